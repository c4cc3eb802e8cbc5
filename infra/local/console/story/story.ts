import { unmarshall } from '@aws-sdk/util-dynamodb'
import * as v from 'valibot'
import { ImageSchema } from '../../../../shared/runtime/stream-handler.ts'
import { fromItem, type Item } from '../../../../shared/table/attributes.ts'
import { type Timestamp, timestampOf } from '../../../../shared/time.ts'
import type { LocalTable } from '../../emulators/local-table.ts'
import type { LocalLog } from '../../functions/local-log.ts'
import type { LocalClock } from '../../process/local-clock.ts'
import { type StreamPoller, type StreamPollerOptions, startStreamPoller } from '../../triggers/stream-poller.ts'
import { rowTeller } from './row-teller.ts'
import type { StoryLine } from './story-line.ts'
import { tellLogLine } from './tell-log-line.ts'

type Batch = Parameters<StreamPollerOptions['invoke']>[0]

export type Story = {
  /** Gives `listener` the latest lines, and then every new one. Returns its removal. */
  follow(listener: (line: StoryLine) => void): () => void
  close(): Promise<void>
}

export type StorySources = {
  readonly clock: Pick<LocalClock, 'nowMs' | 'onJump'>
  readonly log: Pick<LocalLog, 'lines' | 'onLine'>
  readonly table: Pick<LocalTable, 'openStream'>
}

const KEPT_LINES = 1_000

/**
 * What happens in this gateway, in words: the table's stream says what became of payments, events, webhooks and
 * settlements, the log what went wrong on the way. Nothing is read before the first listener comes; the stream then
 * begins with the oldest change that is kept, so that the story is whole.
 */
export const startStory = ({ clock, log, table }: StorySources): Story => {
  const lines: StoryLine[] = []
  const listeners = new Set<(line: StoryLine) => void>()
  const ends: (() => void)[] = []
  let reading: Promise<StreamPoller> | undefined

  const tell = (line: StoryLine) => {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    for (const listener of listeners) listener(line)
  }
  const tellAll = (some: readonly (StoryLine | undefined)[]) =>
    some
      .filter((line) => line !== undefined)
      .toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
      .forEach(tell)

  const begin = async () => {
    // Told with what the stream says of the same time.
    let past = log.lines().map(tellLogLine)
    ends.push(log.onLine((line) => tellAll([tellLogLine(line)])))
    ends.push(clock.onJump(() => tell(jumpedTo(timestampOf(clock.nowMs())))))
    const invoke = inTheirOrder((told) => {
      tellAll([...past, ...told])
      past = []
    })
    return startStreamPoller({ stream: await table.openStream(), ...WHOLE_STREAM, invoke })
  }

  return {
    follow: (listener) => {
      if (!reading) {
        reading = begin()
        // Without the stream the log still tells; whoever closes sees what was wrong.
        reading.catch(() => undefined)
      }
      for (const line of lines) listener(line)
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => {
      for (const end of ends) end()
      await (await reading)?.close()
    },
  }
}

const WHOLE_STREAM = { wanted: () => true, batchSize: 1_000 }

const jumpedTo = (at: Timestamp): StoryLine => ({ at, subject: 'clock', tone: 'plain', text: `jumped to ${at}` })

/** The reader's lanes hand over what they have of one page one after the other: it is told together, as it was written. */
const inTheirOrder = (tell: (lines: readonly StoryLine[]) => void): StreamPollerOptions['invoke'] => {
  const teller = rowTeller()
  let waiting: Batch['Records'][number][] = []
  const flush = () => {
    const page = waiting.toSorted((a, b) => Number(sequenceOf(a) - sequenceOf(b)))
    waiting = []
    tell(page.flatMap(({ dynamodb }) => (dynamodb?.NewImage ? teller.tell(rowOf(dynamodb.NewImage)) : [])))
  }
  return async ({ Records: records }) => {
    if (waiting.length === 0) setImmediate(flush)
    waiting.push(...records)
    return { batchItemFailures: [] }
  }
}

const sequenceOf = ({ dynamodb }: Batch['Records'][number]): bigint => BigInt(dynamodb?.SequenceNumber ?? 0)

const rowOf = (image: unknown): Item => fromItem(unmarshall(v.parse(ImageSchema, image)))
