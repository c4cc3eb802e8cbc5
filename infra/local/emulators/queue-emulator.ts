import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { type BuildAppOptions, buildApp } from 'fauxqs'
import { withoutLog } from '../../../shared/runtime/aws/client-options.ts'
import { isForeignRequest } from '../process/is-foreign-request.ts'
import { LOCAL_REGION, localAws } from './local-aws.ts'

const ACCOUNT = '000000000000'
const LONGEST_POLL_MS = 20_000
/** No web page may call the emulator. */
const NO_PAGES: ReadonlySet<number> = new Set()

/** On 127.0.0.1. With a directory, queues and topics survive a restart. */
export async function startQueueEmulator(directory?: string) {
  const memory = await openStores(directory)
  const app = buildApp({ logger: false, stores: memory.stores })
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (isForeignRequest(headers, NO_PAGES)) await reply.code(403).send()
  })
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' })
  const requestHandler = {
    connectionTimeout: 5_000,
    requestTimeout: LONGEST_POLL_MS + 10_000,
    throwOnRequestTimeout: true,
  }
  const sqs = withoutLog(new SQSClient({ ...localAws(endpoint), maxAttempts: 2, requestHandler }))
  const sns = new SNSClient({ ...localAws(endpoint), maxAttempts: 2, requestHandler })

  // The emulator's own URLs have hosts that some machines cannot resolve, and the port of an
  // earlier start.
  const urlOf = (name: string) => `${endpoint}/${ACCOUNT}/${name}`
  const arnOf = (queueUrl: string) =>
    `arn:aws:sqs:${LOCAL_REGION}:${ACCOUNT}:${queueUrl.split('/').at(-1)}`

  /**
   * With `maxReceives` the queue gets a dead-letter queue, `<name>-dead`. Returns the queue's URL.
   */
  const queue = async (name: string, { maxReceives }: { readonly maxReceives?: number } = {}) => {
    await sqs.send(new CreateQueueCommand({ QueueName: name }))
    if (maxReceives !== undefined) {
      const deadLetterTargetArn = arnOf(await queue(`${name}-dead`))
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: maxReceives })
      await sqs.send(
        new SetQueueAttributesCommand({ QueueUrl: urlOf(name), Attributes: { RedrivePolicy } }),
      )
    }
    return urlOf(name)
  }

  return {
    sqs,
    sns,
    queue,
    /** The queue gets raw messages. Returns the topic's ARN. */
    subscribedTopic: async (name: string, queueUrl: string) => {
      const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: name }))
      await sns.send(
        new SubscribeCommand({
          TopicArn,
          Protocol: 'sqs',
          Endpoint: arnOf(queueUrl),
          Attributes: { RawMessageDelivery: 'true' },
        }),
      )
      return TopicArn ?? ''
    },
    close: async () => {
      sqs.destroy()
      sns.destroy()
      await app.close()
      memory.close()
    },
  }
}

export type QueueEmulator = Awaited<ReturnType<typeof startQueueEmulator>>

type EmulatorStores = NonNullable<BuildAppOptions['stores']>

type Persistence = {
  loadSqsAndSns(queues: EmulatorStores['sqsStore'], topics: EmulatorStores['snsStore']): void
  close(): void
}

/** 0 fails in the emulator when messages are on disk. */
export const SHOW_AGAIN_SECONDS = 1

/**
 * The emulator's memory is in SQLite if there is a directory. The package's own start-up function
 * would listen on every interface without credentials, so this function assembles the parts. The
 * package (its version is pinned) does not export them, so they are loaded by file.
 */
async function openStores(
  directory: string | undefined,
): Promise<{ readonly stores: EmulatorStores; close(): void }> {
  const [{ SqsStore }, { SnsStore }, { S3Store }, { PersistenceManager }]: [
    { SqsStore: new () => EmulatorStores['sqsStore'] },
    { SnsStore: new () => EmulatorStores['snsStore'] },
    { S3Store: new () => EmulatorStores['s3Store'] },
    { PersistenceManager: new (directory: string) => Persistence },
  ] = await Promise.all([
    loadPart('sqs/sqsStore'),
    loadPart('sns/snsStore'),
    loadPart('s3/s3Store'),
    loadPart('persistence'),
  ])

  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() }
  if (directory === undefined) return { stores, close: () => undefined }

  const persistence = new PersistenceManager(directory)
  // Load before attaching: loading into an attached store would delete the data on disk.
  persistence.loadSqsAndSns(stores.sqsStore, stores.snsStore)
  Object.assign(stores.sqsStore, { persistence })
  Object.assign(stores.snsStore, { persistence })
  for (const queue of stores.sqsStore.allQueues()) {
    Object.assign(queue, { persistence })
    // The process that had received these messages has ended.
    for (const receiptHandle of queue.inflightMessages.keys())
      queue.changeVisibility(receiptHandle, SHOW_AGAIN_SECONDS)
  }
  return { stores, close: () => persistence.close() }
}

function loadPart(name: string) {
  return import(/* @vite-ignore */ new URL(`./${name}.js`, import.meta.resolve('fauxqs')).href)
}
