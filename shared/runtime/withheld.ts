import type { Alerts } from '../alerts.ts'
import { assertInvariant } from '../errors.ts'
import type { Provider } from '../provider/provider.ts'
import type { Queues } from '../queues.ts'
import type { Sealer, Secrets } from '../secrets.ts'
import type { ResolveHost, SendWebhook } from '../send-webhook.ts'
import type { Table } from '../table/table.ts'

/**
 * Replaces dependencies that the manifest does not give the function, so that their clients are not bundled. A use
 * throws: the manifest entry is wrong.
 */
const withheld = (means: string) => (): never => {
  assertInvariant(false, `the manifest gives this function no ${means}`)
}

const noTable = withheld('table')
const noKey = withheld('sealing key')
const noProvider = withheld('provider key')

export const WITHHELD = {
  table: {
    get: noTable,
    getFields: noTable,
    getMany: noTable,
    query: noTable,
    write: noTable,
    transact: noTable,
  } satisfies Table,
  queues: { send: withheld('queue') } satisfies Queues,
  alerts: { publish: withheld('alerts') } satisfies Alerts,
  secrets: { get: withheld('secret') } satisfies Secrets,
  sealer: { seal: noKey, unseal: noKey } satisfies Sealer,
  provider: {
    createRequest: noProvider,
    getRequest: noProvider,
    getPayment: noProvider,
    cancelRequest: noProvider,
    listTransactions: noProvider,
    getBalance: noProvider,
    pauseMs: noProvider,
    callsLeft: noProvider,
    isOtherChannel: noProvider,
    nameFor: noProvider,
  } satisfies Provider,
  sendWebhook: withheld('merchants') satisfies SendWebhook,
  resolveHost: withheld('merchants') satisfies ResolveHost,
}
