import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'

export type QueueState = { readonly url: string; readonly arn: string; readonly waiting: number }

export const stateOf = async (sqs: SQSClient, queueName: string): Promise<QueueState> => {
  const { QueueUrl: url = '' } = await sqs.send(new GetQueueUrlCommand({ QueueName: queueName }))
  const { Attributes: attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn', 'ApproximateNumberOfMessages'] }),
  )
  return {
    url,
    arn: attributes['QueueArn'] ?? '',
    waiting: Number(attributes['ApproximateNumberOfMessages'] ?? 0),
  }
}

export type PeekedMessage = {
  readonly messageId: string
  /** When it was first sent: a message that is set aside keeps its age. */
  readonly sentMs: number
  /** The ids its body names, and nothing else of it. */
  readonly ids: Readonly<Record<string, string>>
}

/** As many as SQS hands out at once. */
const SAMPLE = 10
const HIDDEN_SECONDS = 20

/** A few messages, without deleting them: they are hidden for a moment and shown again at once. */
export const peek = async (sqs: SQSClient, url: string): Promise<readonly PeekedMessage[]> => {
  const { Messages: messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: SAMPLE,
      VisibilityTimeout: HIDDEN_SECONDS,
      MessageSystemAttributeNames: ['SentTimestamp'],
    }),
  )
  if (messages.length > 0) await showAgain(sqs, url, messages)
  return messages.map(({ MessageId: messageId = '?', Attributes: attributes, Body: body = '' }) => ({
    messageId,
    sentMs: Number(attributes?.['SentTimestamp'] ?? Number.NaN),
    ids: idsIn(body),
  }))
}

const showAgain = async (sqs: SQSClient, QueueUrl: string, messages: readonly Message[]): Promise<void> => {
  await sqs.send(
    new ChangeMessageVisibilityBatchCommand({
      QueueUrl,
      Entries: messages.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle, VisibilityTimeout: 0 })),
    }),
  )
}

/** Ids of entities, and where in the stream: fields whose names end in `id`, two levels deep. A body may hold anything else. */
const idsIn = (body: string): Readonly<Record<string, string>> => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return {}
  }
  const fields = fieldsOf(parsed).flatMap(([name, value]) => [[name, value] as const, ...fieldsOf(value)])
  return Object.fromEntries(
    fields.flatMap(([name, value]) =>
      /(^|_|[a-z])id$/i.test(name) && (typeof value === 'string' || typeof value === 'number')
        ? [[name, String(value)]]
        : [],
    ),
  )
}

const fieldsOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []
