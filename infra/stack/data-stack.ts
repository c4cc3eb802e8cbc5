import { type App, Aws, CfnCondition, CfnOutput, Fn, RemovalPolicy } from 'aws-cdk-lib'
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { Key } from 'aws-cdk-lib/aws-kms'
import { CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import { callbackSecretName, originSecretName, providerSecretName } from '../../shared/secrets.ts'
import { assertDeployable } from './assert-deployable.ts'
import { operatorTopic } from './monitoring/operator-topic.ts'
import {
  type DeployedStage,
  FRONT_REGION,
  hasAlarms,
  protectionRuleName,
  removalPolicyBesidesTable,
} from './stage.ts'
import { StageStack } from './stage-stack.ts'
import { GatewayQueues } from './storage/gateway-queues.ts'
import { gatewayTable } from './storage/gateway-table.ts'
import { ProtectionRule } from './storage/protection-rule.ts'
import { encryptsAll, stageKey } from './storage/stage-key.ts'
import { TableCopies } from './storage/table-copies.ts'

/** What a stage keeps. Neither a release of code nor its rollback changes these resources. */
export class DataStack extends StageStack {
  readonly table: ITableV2
  /** Seals the secrets of endpoints. */
  readonly sealKey: Key
  /** The same key, if the stage encrypts all its data with it. */
  readonly key: Key | undefined
  readonly queues: GatewayQueues
  readonly provider: ProviderSecrets
  readonly originSecret: Secret | undefined
  readonly topic: ITopic
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
    this.topic = operatorTopic(this, 'Alerts', { stage, name: 'alerts', key: this.key })
    if (hasAlarms(stage)) {
      // The topic that wakes people gets no tickets that can wait. It works without the key,
      // because a disabled key must wake them too.
      this.pageTopic = operatorTopic(this, 'Pages', { stage, name: 'pages' })
      new ProtectionRule(this, 'Protection', protectionRuleName(stage), this.topic)
    }
    const { copies } = stage
    if (copies) new TableCopies(this, 'Copies', { stage, copies, table: this.table, key: this.key })

    this.output('AlertsTopicArn', this.topic.topicArn, 'Every alarm and alert, read during the day')
    this.output(
      'PagesTopicArn',
      this.pageTopic?.topicArn,
      'Only what must wake a person: subscribe the pager',
    )
    this.output('TableName', this.table.tableName, 'The one table')
    this.output(
      'ProviderSecretName',
      providerSecretName(stage.settings.name),
      'Put {"secret_key": "..."} here before the first payment',
    )
    this.output(
      'CallbackSecretName',
      callbackSecretName(stage.settings.name),
      'Put {"callback_tokens": ["..."]} here before the first payment',
    )
  }

  private output(id: string, value: string | undefined, description: string) {
    if (value !== undefined) new CfnOutput(this, id, { value, description })
  }
}

type ProviderSecrets = { readonly key: Secret; readonly callbackTokens: Secret }

/**
 * Two secrets: many functions read the provider's key, one reads the callback tokens. The stack
 * makes them with random, invalid texts, so provider calls and callbacks fail until an operator
 * puts the real values. Later deployments keep them, and so does the deletion of a stack that keeps
 * its data.
 */
function providerSecrets(
  parent: Construct,
  id: string,
  stage: DeployedStage,
  key?: Key,
): ProviderSecrets {
  const scope = new Construct(parent, id)
  const props = {
    removalPolicy: removalPolicyBesidesTable(stage),
    ...(key && { encryptionKey: key }),
  }
  return {
    key: new Secret(scope, 'Secret', {
      ...props,
      secretName: providerSecretName(stage.settings.name),
      description: 'JSON {"secret_key"}; filled in by an operator',
    }),
    callbackTokens: new Secret(scope, 'Callback', {
      ...props,
      secretName: callbackSecretName(stage.settings.name),
      description:
        'JSON {"callback_tokens": [one, or two during a rotation]}; filled in by an operator',
    }),
  }
}

/**
 * Secrets Manager makes the secret and copies it to the front's region, if that is another region.
 * shared/runtime/origin-guard.ts says how to rotate it.
 */
function originSecret(parent: Construct, id: string, stage: DeployedStage) {
  const scope = new Construct(parent, id)
  const secret = new Secret(scope, 'Secret', {
    secretName: originSecretName(stage.settings.name),
    description:
      'JSON {"current"}, and "previous" during a rotation; added by CloudFront, checked by ' +
      'the functions',
    generateSecretString: {
      secretStringTemplate: '{}',
      generateStringKey: 'current',
      excludePunctuation: true,
      passwordLength: 64,
    },
    // A new stack makes a new secret.
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const elsewhere = new CfnCondition(scope, 'FrontIsElsewhere', {
    expression: Fn.conditionNot(Fn.conditionEquals(Aws.REGION, FRONT_REGION)),
  })
  const { defaultChild } = secret.node
  if (defaultChild instanceof CfnSecret) {
    const copy = Fn.conditionIf(elsewhere.logicalId, [{ Region: FRONT_REGION }], Aws.NO_VALUE)
    defaultChild.addPropertyOverride('ReplicaRegions', copy)
  }
  return secret
}
