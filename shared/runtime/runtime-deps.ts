import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { KMSClient } from '@aws-sdk/client-kms'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { Alerts, Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import { loggedProvider } from '../provider/logged-provider.ts'
import type { Provider } from '../provider/provider.ts'
import type { Queues } from '../queues.ts'
import type { Sealer, Secrets } from '../secrets.ts'
import type { ResolveHost, SendWebhook } from '../send-webhook.ts'
import type { Table } from '../table/table.ts'
import { timestampOf } from '../time.ts'
import { urlRulesOf } from '../webhook/endpoint/safe-url.ts'
import { httpsWebhookSender, resolveByDns } from '../webhook/send/https-webhook-sender.ts'
import { AWS_HTTP_OPTIONS, limitedCalls, withoutLog } from './aws/client-options.ts'
import { dynamoDbClient, dynamoDbTable } from './aws/dynamodb-table.ts'
import { kmsSealer, secretsManager } from './aws/kept-secrets.ts'
import { snsAlerts, sqsQueues } from './aws/sent-messages.ts'
import { chosenProvider } from './chosen-provider.ts'
import { readConfig } from './config.ts'
import { jsonLog } from './json-log.ts'

const AWS = { requestHandler: AWS_HTTP_OPTIONS, maxAttempts: 3 }

/**
 * The dependencies of a deployed function, from its environment. The bundler sets a literal `WITHHOLD_…` if the
 * manifest gives the function no use for a dependency (infra/stack/functions/assets-of.ts). Its code is then left out
 * of the bundle, so each name must be written here literally.
 */
export const runtimeDeps = (): Deps => {
  const config = readConfig(process.env)
  const monotonicMs = () => performance.now()
  const secrets = process.env['WITHHOLD_SECRETS']
    ? WITHHELD.secrets
    : secretsManager(new SecretsManagerClient(AWS), monotonicMs)
  const means = {
    log: jsonLog(config.stage.name),
    now: () => timestampOf(Date.now()),
    sleep: async (ms: number) => {
      await sleep(ms)
    },
    random: Math.random,
  }
  return {
    ...means,
    stage: config.stage,
    table: process.env['WITHHOLD_TABLE']
      ? WITHHELD.table
      : dynamoDbTable({ client: dynamoDbClient(limitedCalls(config.calls)), name: config.tableName }, means),
    provider: process.env['WITHHOLD_PROVIDER']
      ? WITHHELD.provider
      : loggedProvider(
          chosenProvider({ baseUrl: config.providerUrl, stage: config.stage.name, secrets, nowMs: Date.now }),
          { log: means.log, monotonicMs },
        ),
    queues: process.env['WITHHOLD_QUEUES']
      ? WITHHELD.queues
      : sqsQueues(withoutLog(new SQSClient({ ...AWS, ...limitedCalls(config.calls) })), config.queueUrls),
    alerts: process.env['WITHHOLD_ALERTS']
      ? WITHHELD.alerts
      : snsAlerts(new SNSClient(AWS), config.alertsTopicArn, monotonicMs),
    secrets,
    sealer: process.env['WITHHOLD_SEALER']
      ? WITHHELD.sealer
      : kmsSealer({ client: new KMSClient(AWS), arn: config.sealKeyArn, stage: config.stage.name }, monotonicMs),
    sendWebhook: process.env['WITHHOLD_MERCHANTS']
      ? WITHHELD.sendWebhook
      : httpsWebhookSender({ ...urlRulesOf(config.stage), monotonicMs }),
    memory: {},
    realNowMs: Date.now,
    resolveHost: process.env['WITHHOLD_ADDRESSES'] ? WITHHELD.resolveHost : resolveByDns,
    monotonicMs,
    newId: randomUUID,
    randomBytes,
    aside,
  }
}

/** Starts work that the answer does not wait for. Lambda may freeze it and continue it during the next request. */
export const aside: NonNullable<Deps['aside']> = (work) => {
  void work().catch(() => undefined)
}

/** Stands for a dependency that the manifest does not give. A use throws: the manifest entry is wrong. */
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
