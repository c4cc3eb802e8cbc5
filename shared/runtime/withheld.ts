import type { Alerts } from '../alerts.ts'
import { assertInvariant } from '../errors.ts'
import type { Provider } from '../provider/provider.ts'
import type { Queues } from '../queues.ts'
import type { ResolveHost } from '../resolve-host.ts'
import type { Sealer, Secrets } from '../secrets.ts'
import type { SendWebhook } from '../send-webhook.ts'
import type { Table } from '../table/table.ts'

/**
 * What stands in a bundle for the means that the manifest gives its function no use for, so that their clients need not
 * be loaded. Using one is a mistake in the manifest, and fails loudly.
 */
const withheld = (means: string) => (): never => {
  assertInvariant(false, `the manifest gives this function no ${means}`)
}

const noTable = withheld('table')
const noKey = withheld('key that seals')
const noProvider = withheld('key of the provider')

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
