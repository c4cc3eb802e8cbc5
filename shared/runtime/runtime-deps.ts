import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { Deps } from '../deps.ts'
import { loggedProvider } from '../provider/logged-provider.ts'
import { xenditProvider } from '../provider/xendit/xendit-provider.ts'
import { timestampOf } from '../time.ts'
import { httpsWebhookSender } from '../webhook/send/https-webhook-sender.ts'
import { resolveByDns } from '../webhook/send/resolve-by-dns.ts'
import { AWS_HTTP_OPTIONS } from './aws/aws-http-options.ts'
import { documentClient } from './aws/document-client.ts'
import { dynamoDbTable } from './aws/dynamodb-table.ts'
import { secretsManager } from './aws/secrets-manager.ts'
import { snsAlerts } from './aws/sns-alerts.ts'
import { sqsQueues } from './aws/sqs-queues.ts'
import { readConfig } from './config.ts'
import { powertoolsLog } from './powertools-log.ts'

let made: Deps | undefined

/** The dependencies of a deployed function, from its environment. Made once per environment. */
export const runtimeDeps = (): Deps => {
  made ??= makeDeps()
  return made
}

const makeDeps = (): Deps => {
  const config = readConfig(process.env)
  const aws = { requestHandler: AWS_HTTP_OPTIONS, maxAttempts: 3 }
  const monotonicMs = () => performance.now()
  const secrets = secretsManager(new SecretsManagerClient(aws), monotonicMs, config.secretsKmsArn)
  const means = {
    log: powertoolsLog(config.stage.name),
    now: () => timestampOf(Date.now()),
    sleep: async (ms: number) => {
      await sleep(ms)
    },
    random: Math.random,
  }
  return {
    ...means,
    stage: config.stage,
    table: dynamoDbTable({ client: documentClient(), name: config.tableName }, means),
    provider: loggedProvider(
      xenditProvider({ baseUrl: config.providerUrl, stage: config.stage.name, secrets, nowMs: Date.now }),
      { log: means.log, monotonicMs },
    ),
    queues: sqsQueues(new SQSClient(aws), {
      ...(config.webhooksQueueUrl !== undefined && { webhooks: config.webhooksQueueUrl }),
      ...(config.settlementsQueueUrl !== undefined && { settlements: config.settlementsQueueUrl }),
    }),
    alerts: snsAlerts(new SNSClient(aws), config.alertsTopicArn, monotonicMs),
    secrets,
    sendWebhook: httpsWebhookSender({ allowLoopback: false, monotonicMs }),
    resolveHost: resolveByDns,
    monotonicMs,
    newId: randomUUID,
    randomBytes,
  }
}
