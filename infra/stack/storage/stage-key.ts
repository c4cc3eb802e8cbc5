import { Aspects, Duration, Stack } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { type IKey, Key } from 'aws-cdk-lib/aws-kms'
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct, type IConstruct } from 'constructs'
import { stackNameOf } from '../stack-name-of.ts'
import type { DeployedStage } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'

/** The longest KMS allows: a key that is deleted by mistake takes the table's data with it. */
const PENDING_DELETION = Duration.days(30)

/** What a service that writes to an encrypted queue or topic needs; the second reads the data key it may use again. */
const SENDING = ['kms:GenerateDataKey', 'kms:Decrypt']

/** Whether the stage's key also encrypts table, queues, topics, secrets and logs. */
export const encryptsAll = ({ table }: DeployedStage): boolean => table.encryption === 'customer'

/**
 * The stage's key. It seals the secrets of endpoints. A stage that asks for it has table, queues, topics, secrets and
 * every log group encrypted with it too. Its material changes every year by itself. Functions get their use
 * of it by their roles (grants.ts), AWS services by its policy.
 */
export const stageKey = (parent: Construct, id: string, stage: DeployedStage): Key => {
  const name = stackNameOf(stage)
  const isForAll = encryptsAll(stage)
  const key = new Key(new Construct(parent, id), 'Key', {
    alias: name,
    description: `Payment gateway ${stage.settings.name}: secrets of endpoints${isForAll ? ', table, queues, topics, secrets, logs' : ''}`,
    enableKeyRotation: true,
    pendingWindow: PENDING_DELETION,
    // As long as the table is kept, also after a creation that failed: without its key it could not be read.
    removalPolicy: stage.removalPolicy,
  })
  if (isForAll) letServicesUse(key, name)
  return key
}

const letServicesUse = (key: Key, prefix: string): void => {
  const { region, account } = Stack.of(key)
  const allow = (service: string, actions: string[], conditions: Record<string, Record<string, string>>): void => {
    const principals = [new ServicePrincipal(service)]
    // In a key's own policy every resource is the key.
    key.addToResourcePolicy(new PolicyStatement({ principals, actions, resources: ['*'], conditions }))
  }
  // Of this stage's log groups only: their name is in the context that everything is encrypted under.
  allow(
    `logs.${region}.amazonaws.com`,
    ['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncryptFrom', 'kms:ReEncryptTo', 'kms:GenerateDataKey', 'kms:DescribeKey'],
    { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': arnOf(key, 'logs', `log-group:*${prefix}*`) } },
  )
  // Alarms publish to the topics.
  allow('cloudwatch.amazonaws.com', SENDING, { StringEquals: { 'aws:SourceAccount': account } })
  // Schedules set runs aside. EventBridge does not say on whose behalf it uses a key, so a condition on that would lose
  // every message without a word. Which rules may send is held by the queue's policy.
  allow('events.amazonaws.com', SENDING, {})
}

/** Encrypts every log group of a stack with the stage's key, if the stage encrypts all its data. */
export const encryptLogs = (stack: Stack, key: IKey | undefined): void => {
  if (key === undefined) return
  const visit = (node: IConstruct): void => {
    if (node instanceof CfnLogGroup) node.kmsKeyId = key.keyArn
  }
  Aspects.of(stack).add({ visit })
}
