import type { BuildAppOptions } from 'fauxqs'

export type EmulatorStores = NonNullable<BuildAppOptions['stores']>

export type OpenStores = { readonly stores: EmulatorStores; close(): void }

type Persistence = {
  loadSqsAndSns(queues: EmulatorStores['sqsStore'], topics: EmulatorStores['snsStore']): void
  close(): void
}

/** The shortest visibility timeout: 0 fails in the emulator when messages are on disk. */
const SHOW_AGAIN_SECONDS = 1

/**
 * The emulator's memory, stored in SQLite if there is a directory. The package's own start-up function would listen on
 * every interface without credentials, so this function assembles the parts. The package (its version is pinned) does
 * not export them, so they are loaded by file.
 */
export const openStores = async (directory: string | undefined): Promise<OpenStores> => {
  const [{ SqsStore }, { SnsStore }, { S3Store }, { PersistenceManager }]: [
    { SqsStore: new () => EmulatorStores['sqsStore'] },
    { SnsStore: new () => EmulatorStores['snsStore'] },
    { S3Store: new () => EmulatorStores['s3Store'] },
    { PersistenceManager: new (directory: string) => Persistence },
  ] = await Promise.all([part('sqs/sqsStore'), part('sns/snsStore'), part('s3/s3Store'), part('persistence')])

  const stores: EmulatorStores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() }
  if (directory === undefined) return { stores, close: () => undefined }

  const persistence = new PersistenceManager(directory)
  // Load before attaching: loading into an attached store would delete the data on disk.
  persistence.loadSqsAndSns(stores.sqsStore, stores.snsStore)
  Object.assign(stores.sqsStore, { persistence })
  Object.assign(stores.snsStore, { persistence })
  for (const queue of stores.sqsStore.allQueues()) {
    Object.assign(queue, { persistence })
    // The process that had received these messages has ended.
    for (const receiptHandle of queue.inflightMessages.keys()) queue.changeVisibility(receiptHandle, SHOW_AGAIN_SECONDS)
  }
  return { stores, close: () => persistence.close() }
}

const part = (name: string) => import(/* @vite-ignore */ new URL(`./${name}.js`, import.meta.resolve('fauxqs')).href)
