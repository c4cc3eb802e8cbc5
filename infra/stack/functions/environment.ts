import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import type { QueueName } from '../../../shared/queues.ts'
import { ENV } from '../../../shared/runtime/config.ts'
import type { DeployedStage } from '../stage.ts'
import type { GatewayQueues } from '../triggers/gateway-queues.ts'

const QUEUE_URL: Readonly<Record<QueueName, string>> = {
  webhooks: ENV.webhooksQueue,
  settlements: ENV.settlementsQueue,
}

export type EnvironmentSources = {
  readonly stage: DeployedStage
  readonly table: TableV2
  readonly queues: GatewayQueues
  readonly topic: Topic
  readonly key?: IKey | undefined
}

/** What a function is told: stage and table always, and only those addresses its manifest entry gives it a use for. */
export const environmentOf = (
  spec: FunctionSpec,
  { stage, table, queues, topic, key }: EnvironmentSources,
): Record<string, string> => ({
  [ENV.stage]: stage.settings.name,
  [ENV.table]: table.tableName,
  ...Object.fromEntries(spec.sends.map((name) => [QUEUE_URL[name], queues.byName[name].queue.queueUrl])),
  ...(spec.alerts && { [ENV.alertsTopic]: topic.topicArn }),
  ...(key && spec.secrets.includes('create-endpoints') && { [ENV.secretsKms]: key.keyArn }),
  ...(stage.settings.providerFees === 'invoiced' && { [ENV.providerFees]: stage.settings.providerFees }),
  ...(stage.front !== 'none' && isHttp(spec) && { [ENV.front]: stage.front }),
  ...(stage.domain && isHttp(spec) && { [ENV.domain]: stage.domain.name }),
  ...(spec.payerDefaults === true && {
    [ENV.defaultReturnUrl]: stage.settings.defaultReturnUrl,
    [ENV.defaultDisplayName]: stage.settings.defaultDisplayName,
  }),
})
