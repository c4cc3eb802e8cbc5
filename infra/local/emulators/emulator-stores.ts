import type { BuildAppOptions } from 'fauxqs'

export type EmulatorStores = NonNullable<BuildAppOptions['stores']>

export type OpenStores = { readonly stores: EmulatorStores; close(): void }

type Persistence = {
  loadSqsAndSns(queues: EmulatorStores['sqsStore'], topics: EmulatorStores['snsStore']): void
  close(): void
}

/** A hidden message is shown again after this long; 0 fails in the emulator once messages are kept on disk. */
const SHOW_AGAIN_SECONDS = 1

/**
 * The emulator's memory, kept in SQLite when there is a directory. Its own start-up function does the same but listens
 * on every interface of the machine, without credentials; that is why the parts are put together here. They are not
 * exported by the package (whose version is pinned), so they are loaded by their file.
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
  // Loaded before it is attached: loading through it would delete what is on disk.
  persistence.loadSqsAndSns(stores.sqsStore, stores.snsStore)
  Object.assign(stores.sqsStore, { persistence })
  Object.assign(stores.snsStore, { persistence })
  for (const queue of stores.sqsStore.allQueues()) {
    Object.assign(queue, { persistence })
    // Whoever had received these messages is gone with the process that did.
    for (const receiptHandle of queue.inflightMessages.keys()) queue.changeVisibility(receiptHandle, SHOW_AGAIN_SECONDS)
  }
  return { stores, close: () => persistence.close() }
}

const part = (name: string) => import(/* @vite-ignore */ new URL(`./${name}.js`, import.meta.resolve('fauxqs')).href)
