import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { KMSClient } from '@aws-sdk/client-kms'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import { loggedProvider } from '../provider/logged-provider.ts'
import { timestampOf } from '../time.ts'
import { httpsWebhookSender, resolveByDns } from '../webhook/send/https-webhook-sender.ts'
import { AWS_HTTP_OPTIONS, limitOptions, withoutLog } from './aws/client-options.ts'
import { dynamoDbClient, dynamoDbTable } from './aws/dynamodb-table.ts'
import { kmsSealer, secretsManager } from './aws/kept-secrets.ts'
import { snsAlerts, sqsQueues } from './aws/sent-messages.ts'
import { chosenProvider } from './chosen-provider.ts'
import { readConfig } from './config.ts'
import { jsonLog } from './json-log.ts'

const AWS = { requestHandler: AWS_HTTP_OPTIONS, maxAttempts: 3 }

/**
 * For each port that the manifest does not grant, the bundler sets the port's `WITHHOLD_…` and
 * removes its code (infra/stack/functions/assets-of.ts). The bundler replaces only literal names,
 * so each name is written out here.
 */
export function runtimeDeps(): Deps {
  const config = readConfig(process.env)
  const monotonicMs = () => performance.now()
  const secrets = process.env['WITHHOLD_SECRETS']
    ? withheldPort('secret')
    : secretsManager(new SecretsManagerClient(AWS), Date.now)
  const basics = {
    log: jsonLog(config.stage.name),
    now: () => timestampOf(Date.now()),
    sleep: async (ms: number) => sleep(ms),
    random: Math.random,
  }
  return {
    ...basics,
    stage: config.stage,
    table: process.env['WITHHOLD_TABLE']
      ? withheldPort('table')
      : dynamoDbTable(
          { client: dynamoDbClient(limitOptions(config.calls)), name: config.tableName },
          basics,
        ),
    provider: process.env['WITHHOLD_PROVIDER']
      ? withheldPort('provider key')
      : loggedProvider(
          chosenProvider({
            baseUrl: config.providerUrl,
            stage: config.stage.name,
            secrets,
            nowMs: Date.now,
          }),
          { log: basics.log, monotonicMs },
        ),
    queues: process.env['WITHHOLD_QUEUES']
      ? withheldPort('queue')
      : sqsQueues(
          withoutLog(new SQSClient({ ...AWS, ...limitOptions(config.calls) })),
          config.queueUrls,
        ),
    alerts: process.env['WITHHOLD_ALERTS']
      ? withheldPort('alerts')
      : snsAlerts(new SNSClient(AWS), config.alertsTopicArn, Date.now),
    secrets,
    sealer: process.env['WITHHOLD_SEALER']
      ? withheldPort('sealing key')
      : kmsSealer(
          { client: new KMSClient(AWS), arn: config.sealKeyArn, stage: config.stage.name },
          Date.now,
        ),
    sendWebhook: process.env['WITHHOLD_MERCHANTS']
      ? refuseUse('merchants')
      : httpsWebhookSender({ ...config.stage, monotonicMs }),
    memory: {},
    realNowMs: Date.now,
    resolveHost: process.env['WITHHOLD_ADDRESSES'] ? refuseUse('merchants') : resolveByDns,
    monotonicMs,
    newId: randomUUID,
    randomBytes,
    runInBackground,
  }
}

/** Lambda may freeze the work after the answer and continue it in the next request. */
export function runInBackground(work: () => Promise<unknown>) {
  void work().catch(() => undefined)
}

function withheldPort(port: string) {
  return new Proxy<
    Deps['table'] &
      Deps['queues'] &
      Deps['alerts'] &
      Deps['secrets'] &
      Deps['sealer'] &
      Deps['provider']
  >(Object.create(null), { get: () => refuseUse(port) })
}

function refuseUse(port: string) {
  return (): never => {
    assertInvariant(false, `the manifest gives this function no ${port}`)
  }
}
