import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import { text } from '../../../support/recount/books.ts'
import type { Process } from '../../world/process.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { broken, isChanged, ms, onWrite, type RowWrite, type Rule, watchClocks } from '../row-write.ts'

/** One write to what an endpoint's operators are told; `holder`: who has the message; `toldAtMs`: when it went out first. */
type GroupWrite = RowWrite & {
  readonly before: StoredItem
  readonly holder: Process | undefined
  readonly toldAtMs: number | undefined
}

const QUARTER_MS = 15 * 60_000
/** For how long a worker has a message. */
const CLAIM_MS = 60_000

const begins = ({ before, after }: GroupWrite) =>
  before['alert_id'] !== after['alert_id'] && after['alert_id'] !== undefined
const ends = ({ before, after }: GroupWrite) => before['alert_id'] !== undefined && after['alert_id'] === undefined
const isTakenOver = ({ before, after }: GroupWrite) =>
  before['alert_id'] === after['alert_id'] && before['claimed_until'] !== after['claimed_until']

const ofGroup: readonly Rule<GroupWrite>[] = [
  ['has its message written over', (write) => begins(write) && write.before['alert_id'] !== undefined],
  [
    'follows another message too soon',
    (write) => begins(write) && ms(write.before, 'next_at') > write.nowMs + write.apartMs,
  ],
  [
    'names others than it did',
    ({ before, after }) => before['alert_id'] === after['alert_id'] && isChanged(before, after, ['named']),
  ],
  [
    'is taken over while its worker has it',
    (write) => isTakenOver(write) && ms(write.before, 'claimed_until') > write.nowMs + write.apartMs,
  ],
  ['is ended by a worker that does not have it', (write) => ends(write) && write.holder !== write.worker],
  [
    'does not close the door before it',
    (write) => begins(write) && ms(write.after, 'next_at') < ms(write.after, 'claimed_until') - CLAIM_MS + QUARTER_MS,
  ],
  // However long the write was on its way: what counts is when the message went out.
  [
    'does not close the door behind it',
    (write) => ends(write) && ms(write.after, 'next_at') < (write.toldAtMs ?? 0) + QUARTER_MS - write.apartMs,
  ],
]

const UNTOLD = /^UNTOLD#.*#([^#]+)#(\d+)$/

/**
 * Checked at every write to what the operators of an endpoint are still to be told, and at every message: one worker has
 * it, nothing of it is taken off before it is out, and nothing that was told of is owed again.
 */
export const watchAbandonments = (world: World, seen: Observations): void => {
  const apartMs = watchClocks(world)
  const holders = new Map<string, Process>()
  /** What was taken off, by its key; and how much of each delivery. */
  const off = new Set<string>()
  const timesOff = new Map<string, number>()

  onWrite(
    world,
    ({ pk, sk }) => pk.startsWith('ALERT#') && sk === 'GROUP',
    ({ before = {}, ...row }) => {
      const { key, after, worker } = row
      const id = text(before, 'alert_id')
      const toldAtMs = world.alerts.find(({ message }) => message.includes(id))?.atMs
      const write: GroupWrite = { ...row, before, holder: holders.get(key.pk), toldAtMs }
      for (const what of broken(ofGroup, write)) seen.problems.push(`${key.pk} ${what}`)
      if (ends(write) && toldAtMs === undefined) seen.problems.push(`${key.pk} ends a message that is not out`)
      if (after['alert_id'] === undefined) holders.delete(key.pk)
      else if (begins(write) || isTakenOver(write)) holders.set(key.pk, worker)
    },
  )

  world.onChange.push(({ key, before, after }) => {
    const [, id = '', attempts] = UNTOLD.exec(key.sk) ?? []
    if (attempts === undefined) return
    const tell = (what: string) => void seen.problems.push(`${key.pk} ${key.sk} ${what}`)
    if (before === undefined) {
      if (off.has(key.sk)) tell('is owed again although it was told')
      if (after?.['delivery_id'] !== id || text(after, 'attempts') !== attempts || after['since'] === undefined)
        tell('does not say what it is about')
      return
    }
    if (after !== undefined) {
      if (isChanged(before, after, ['delivery_id', 'attempts', 'since', 'created_at', 'endpoint_id', 'client_id']))
        tell('is another one than it was')
      if (ms(before, 'due_at') > world.scheduler.nowMs() + apartMs() && before['due_at'] !== after['due_at'])
        tell('is put off before its time')
      return
    }
    off.add(key.sk)
    const times = (timesOff.get(id) ?? 0) + 1
    timesOff.set(id, times)
    const messages = world.alerts.flatMap(({ message }) => (message.includes(id) ? [message] : []))
    // One message may name two rounds of it.
    const named = [...new Set(messages)].reduce((sum, message) => sum + message.split(id).length - 1, 0)
    if (named < times) tell('is taken off although nobody was told')
  })

  world.onTold.push(({ kind, subject, message }, worker) => {
    if (kind !== 'delivery.abandoned') return
    const group = world.table.item({ pk: `ALERT#${subject}`, sk: 'GROUP' })
    const id = text(group ?? {}, 'alert_id')
    const isHeld = id !== '' && message.includes(id) && holders.get(`ALERT#${subject}`) === worker
    if (!isHeld) return void seen.problems.push(`endpoint ${subject} is told of by a worker that does not have it`)
    if (ms(group, 'claimed_until') < world.scheduler.nowMs() - apartMs() - 10_000)
      seen.problems.push(`endpoint ${subject} is told of behind the end of a claim`)
  })
}
