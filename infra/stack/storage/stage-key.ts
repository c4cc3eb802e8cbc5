import { Aspects, Duration, Stack } from 'aws-cdk-lib'
import { PolicyStatement, type PolicyStatementProps, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { type IKey, Key } from 'aws-cdk-lib/aws-kms'
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct, type IConstruct } from 'constructs'
import { type DeployedStage, stackNameOf } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'

/** The longest that KMS allows: without the key the table's data is lost. */
const PENDING_DELETION = Duration.days(30)

/**
 * The actions of a service that writes to an encrypted queue or topic. `kms:Decrypt` reads a cached
 * data key.
 */
const SENDING = ['kms:GenerateDataKey', 'kms:Decrypt']

/**
 * Seals the secrets of endpoints and, by the stage's settings, also encrypts table, queues, alerts,
 * the provider's secrets and the region's logs. Its material rotates every year. Roles let
 * functions use it (grants.ts), its own policy lets AWS services use it.
 */
export function stageKey(parent: Construct, id: string, stage: DeployedStage) {
  const name = stackNameOf(stage)
  const isForAll = encryptsAll(stage)
  const key = new Key(new Construct(parent, id), 'Key', {
    alias: name,
    description: `Payment gateway ${stage.settings.name}: secrets of endpoints${isForAll ? ', table, queues, alerts, secrets, logs' : ''}`,
    // The doctor sees no change of a default.
    enabled: true,
    enableKeyRotation: true,
    pendingWindow: PENDING_DELETION,
    // Kept as long as the table, also after a failed creation: nothing else can read the table.
    removalPolicy: stage.removalPolicy,
  })
  if (isForAll) letServicesUse(key, name)
  return key
}

/** Whether the key also encrypts table, queues, alerts, secrets and logs. */
export function encryptsAll({ table }: DeployedStage) {
  return table.encryption === 'customer'
}

function letServicesUse(key: Key, prefix: string) {
  const { region, account } = Stack.of(key)
  const allow = (
    service: string,
    actions: string[],
    conditions: PolicyStatementProps['conditions'],
  ) => {
    const principals = [new ServicePrincipal(service)]
    // In a key's own policy every resource is the key.
    key.addToResourcePolicy(
      new PolicyStatement({ principals, actions, resources: ['*'], conditions }),
    )
  }
  // Only for this stage's log groups: the encryption context has the name of the log group.
  const names = [`/aws/lambda/${prefix}-*`, `/aws/vendedlogs/http-api/${prefix}`, `/${prefix}/*`]
  allow(
    `logs.${region}.amazonaws.com`,
    [
      'kms:Encrypt',
      'kms:Decrypt',
      'kms:ReEncryptFrom',
      'kms:ReEncryptTo',
      'kms:GenerateDataKey',
      'kms:DescribeKey',
    ],
    {
      ArnLike: {
        'kms:EncryptionContext:aws:logs:arn': names.map((name) =>
          arnOf(key, 'logs', `log-group:${name}`),
        ),
      },
    },
  )
  // Alarms publish to the alerts.
  allow('cloudwatch.amazonaws.com', SENDING, { StringEquals: { 'aws:SourceAccount': account } })
  // Failed runs of schedules go to a queue. EventBridge does not name the rule when it uses a key,
  // so a condition on it would lose every message silently. The queue's policy names the rules that
  // may send.
  allow('events.amazonaws.com', SENDING, {})
}

/** Encrypts every log group of a stack with the stage's key, if the stage encrypts all its data. */
export function encryptLogs(stack: Stack, key: IKey | undefined) {
  if (key === undefined) return
  const visit = (node: IConstruct) => {
    if (node instanceof CfnLogGroup) node.kmsKeyId = key.keyArn
  }
  Aspects.of(stack).add({ visit })
}
