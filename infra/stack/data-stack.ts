import { type App, CfnOutput } from 'aws-cdk-lib'
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { Key } from 'aws-cdk-lib/aws-kms'
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { callbackSecretName, providerSecretName } from '../../shared/secrets.ts'
import { assertDeployable } from './assert-deployable.ts'
import { operatorTopic } from './monitoring/operator-topic.ts'
import { ProtectionRule } from './monitoring/protection-rule.ts'
import { protectionRuleName } from './stack-name-of.ts'
import { type DeployedStage, hasAlarms } from './stage.ts'
import { StageStack } from './stage-stack.ts'
import { gatewayTable } from './storage/gateway-table.ts'
import { encryptsAll, stageKey } from './storage/stage-key.ts'
import { originSecret, type ProviderSecrets, providerSecrets } from './storage/stage-secrets.ts'
import { TableCopies } from './storage/table-copies.ts'
import { GatewayQueues } from './triggers/gateway-queues.ts'

/**
 * The resources that a stage keeps: table, key, secrets, queues and topics. Neither a release of
 * code nor its rollback changes these resources.
 */
export class DataStack extends StageStack {
  readonly table: ITableV2
  /** Seals the secrets of endpoints. */
  readonly sealKey: Key
  /** The same key, if the stage encrypts all its data with it. */
  readonly key: Key | undefined
  readonly queues: GatewayQueues
  readonly provider: ProviderSecrets
  /** Only in a stage with a front. */
  readonly originSecret: Secret | undefined
  readonly topic: ITopic
  /** Only in a stage with alarms. */
  readonly pageTopic: ITopic | undefined

  constructor(scope: App, stage: DeployedStage) {
    assertDeployable(stage)
    const holds = 'table, key, secrets, queues, topics'
    super(scope, stage, { part: 'data', holds, terminationProtection: stage.deletionProtection })
    this.sealKey = stageKey(this, 'Key', stage)
    this.key = encryptsAll(stage) ? this.sealKey : undefined
    this.table = gatewayTable(this, 'Table', stage, this.key)
    this.queues = new GatewayQueues(this, 'Queues', stage, this.key)
    this.provider = providerSecrets(this, 'Provider', stage, this.key)
    this.originSecret = stage.front === 'none' ? undefined : originSecret(this, 'Origin', stage)
    const { alarmRecipients, pageRecipients = alarmRecipients } = stage
    const topicOf = (id: string, name: 'alerts' | 'pages', recipients: readonly string[]) =>
      operatorTopic(this, id, { stage, name, recipients, key: this.key })
    this.topic = topicOf('Alerts', 'alerts', alarmRecipients)
    // The topic that wakes people gets no tickets that can wait.
    this.pageTopic = hasAlarms(stage) ? topicOf('Pages', 'pages', pageRecipients) : undefined
    if (hasAlarms(stage))
      new ProtectionRule(this, 'Protection', protectionRuleName(stage), this.topic)
    const { copies } = stage
    if (copies) new TableCopies(this, 'Copies', { stage, copies, table: this.table, key: this.key })

    this.output('AlertsTopicArn', this.topic.topicArn, 'Every alarm and alert, read during the day')
    this.output(
      'PagesTopicArn',
      this.pageTopic?.topicArn,
      'Only what must wake a person: subscribe the pager',
    )
    this.output('TableName', this.table.tableName, 'The one table')
    const secrets = [providerSecretName, callbackSecretName].map((nameOf) =>
      nameOf(stage.settings.name),
    )
    this.output(
      'ProviderSecretName',
      secrets[0],
      'Put {"secret_key": "..."} here before the first payment',
    )
    this.output(
      'CallbackSecretName',
      secrets[1],
      'Put {"callback_tokens": ["..."]} here before the first payment',
    )
  }

  private output(id: string, value: string | undefined, description: string): void {
    if (value !== undefined) new CfnOutput(this, id, { value, description })
  }
}
