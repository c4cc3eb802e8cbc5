import { GetQueueAttributesCommand, GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { pointedTo, type StageTemplate } from '../../stack/stage-template.ts'
import { type Finding, wrong } from '../check/finding.ts'
import { look, QUEUE_ABSENT, unlessAbsent } from '../check/look.ts'
import { compareSettings } from './compare.ts'

const QueueProperties = v.object({
  QueueName: v.string(),
  /** Half a minute is what SQS gives a queue that names none, such as one for dead letters. */
  VisibilityTimeout: v.optional(v.number(), 30),
  MessageRetentionPeriod: v.number(),
  SqsManagedSseEnabled: v.optional(v.boolean(), false),
  KmsMasterKeyId: v.optional(v.unknown()),
  RedrivePolicy: v.optional(v.object({ deadLetterTargetArn: v.unknown(), maxReceiveCount: v.number() })),
})

/** Every queue against the synthesised one: what is hidden how long, kept how long, set aside where, encrypted how. */
export const checkQueues = async (
  client: SQSClient,
  template: Pick<StageTemplate, 'ofType' | 'resources'>,
): Promise<readonly Finding[]> => {
  const found = await Promise.all(
    template.ofType('AWS::SQS::Queue').map(({ properties }) => {
      const expected = v.parse(QueueProperties, properties)
      const target = pointedTo(expected.RedrivePolicy?.deadLetterTargetArn)
      const deadLetters = template.resources.find(({ logicalId }) => logicalId === target)?.properties['QueueName']
      return look(`queue ${expected.QueueName}`, () => checkQueue(client, expected, deadLetters))
    }),
  )
  return found.flat()
}

const RedrivePolicy = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ deadLetterTargetArn: v.string(), maxReceiveCount: v.pipe(v.unknown(), v.transform(Number)) }),
)

const checkQueue = async (
  client: SQSClient,
  expected: v.InferOutput<typeof QueueProperties>,
  deadLetters: unknown,
): Promise<Finding> => {
  const what = `queue ${expected.QueueName}`
  const at = await unlessAbsent(QUEUE_ABSENT, client.send(new GetQueueUrlCommand({ QueueName: expected.QueueName })))
  if (at?.QueueUrl === undefined) return wrong(what, 'is missing', 'npm run deploy')
  const { Attributes: found = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: at.QueueUrl, AttributeNames: ['All'] }),
  )
  const redrive = found['RedrivePolicy'] === undefined ? undefined : v.parse(RedrivePolicy, found['RedrivePolicy'])
  return compareSettings(
    what,
    [
      ['visibility timeout', expected.VisibilityTimeout, Number(found['VisibilityTimeout'])],
      ['retention', expected.MessageRetentionPeriod, Number(found['MessageRetentionPeriod'])],
      ['receives before it is set aside', expected.RedrivePolicy?.maxReceiveCount, redrive?.maxReceiveCount],
      ['dead-letter queue', deadLetters, redrive?.deadLetterTargetArn.split(':').at(-1)],
      ['encryption by SQS', expected.SqsManagedSseEnabled, found['SqsManagedSseEnabled'] === 'true'],
      ['encryption with a KMS key', expected.KmsMasterKeyId !== undefined, found['KmsMasterKeyId'] !== undefined],
    ],
    `${found['ApproximateNumberOfMessages'] ?? '?'} messages wait; settings as synthesised`,
  )
}
