import { amount, type RawItem, text } from '../../support/recount/books.ts'
import { namesOf, type Process } from '../world/process.ts'
import {
  APART_MS,
  isChanged,
  isGiven,
  isRewritten,
  movesOtherwise,
  ms,
  onWrite,
  type Rules,
  rewrites,
  type Write,
  watchRules,
} from '../world/rules.ts'
import type { World } from '../world/world.ts'

const OVERLAP_MS = 2 * 60_000
/** How often an hour of rows that are not final may be read (design section 4, "Tail"). */
const MAX_READINGS = 5

const slicesOf = ({ written }: Write): readonly RawItem[] =>
  written.flatMap(({ before, after }) => (before === undefined && after?.['kind'] === 'head' ? [after] : []))

const byTime = (one: RawItem, other: RawItem) => text(one, 'from').localeCompare(text(other, 'from'))

/** From one time to another, without a gap. */
const isCovered = (slices: readonly RawItem[], from: string, to: string): boolean => {
  let until = from || to
  for (const slice of slices.toSorted(byTime)) {
    if (text(slice, 'from') > until) return false
    until = text(slice, 'to')
  }
  return until >= to
}

const ofHead: Rules = {
  'moves without counting one round up': (write) =>
    isChanged(write, 'position') && amount(write.after, 'round') !== amount(write.before, 'round') + 1,
  'goes back': (write) => text(write.after, 'position') < text(write.before, 'position'),
  'passes a time that no slice covers': (write) =>
    isChanged(write, 'round') &&
    !isCovered(slicesOf(write), text(write.before, 'position'), text(write.after, 'position')),
  'passes a time in which rows may still appear': (write) =>
    isRewritten(write, 'position') && ms(write.after, 'position') > write.nowMs - OVERLAP_MS + APART_MS,
}

/** Attributes of a job that only the worker that holds its lease changes. */
const PROGRESS = ['after_id', 'rows', 'tries', 'open_until']

const isRegistered = (write: Write) => isChanged(write, 'settles_by')
const isHeardAgain = (write: Write) => isRewritten(write, 'transaction')
const isEnded = ({ before, after }: Write) => before['work'] !== undefined && after['work'] === undefined
const isBegun = (write: Write) => isGiven(write, 'work')
const isProgress = (write: Write) =>
  !write.isNew &&
  !isBegun(write) &&
  !isRegistered(write) &&
  (isEnded(write) || PROGRESS.some((name) => isChanged(write, name)))

const ofJobs: Rules = {
  'changes its span': (write) => !isBegun(write) && rewrites('from to category kind id')(write),
  'moves its last reading to an earlier time': (write) =>
    !write.isNew && text(write.after, 'settles_by') < text(write.before, 'settles_by'),
  'counts more than one reading, or counts down': movesOtherwise('reads', 0, 1),
  'is read more often than allowed': ({ after }) => amount(after, 'reads') > MAX_READINGS,
  'changes its transaction, or takes an older reading of it': (write) => {
    const [known, heard] = [write.before['transaction'], write.after['transaction']].map(Object)
    if (isBegun(write) || !isHeardAgain(write)) return false
    return known.transactionId !== heard.transactionId || known.updatedAt > heard.updatedAt
  },
  'expires although it is due': ({ after }) => after['work'] !== undefined && after['ttl'] !== undefined,
}

/** A worker leases a job: it moves the job's due time forward, and holds the job until then. */
const watchHolders = (world: World) => {
  const holders = new Map<string, Process>()
  /** A worker that was frozen continues under the name of the worker that thawed it. */
  const isHolder = ({ key, worker }: Write) => {
    const holder = holders.get(key.pk)
    const names = namesOf(world, worker)
    return holder === worker || namesOf(world, holder).some((process) => names.includes(process))
  }
  const rules: Rules = {
    'is changed by a worker that does not hold it': (write) => isProgress(write) && !isHolder(write),
    'is taken while another worker holds it': (write) => {
      const isTold = write.isNew || isBegun(write) || isRegistered(write) || isHeardAgain(write)
      const isTaken = isChanged(write, 'due_at') && !isTold
      const isLive = Date.parse(text(write.before, 'due_at')) > write.nowMs + APART_MS
      return isTaken && isLive && holders.has(write.key.pk) && !isHolder(write)
    },
  }
  const follow = ({ key, after, before, worker, nowMs, isNew }: Write) => {
    if (!isNew && before['due_at'] === after['due_at']) return
    const isHeld = after['work'] !== undefined && Date.parse(text(after, 'due_at')) > nowMs - APART_MS
    if (isHeld && worker) holders.set(key.pk, worker)
    else holders.delete(key.pk)
  }
  return { rules, follow }
}

/** Checked at every write to a job of the sync: it passes nothing over, and only its holder changes it. */
export const watchJobs = (world: World): void => {
  const { rules, follow } = watchHolders(world)
  const all: Rules = { ...ofJobs, ...rules }
  watchRules(world, (key, { before, after }) => {
    if (!key.pk.startsWith('SYNC#')) return undefined
    const isOver = before['ttl'] !== undefined && after['work'] === undefined
    return key.pk === 'SYNC#head' ? ofHead : isOver ? undefined : all
  })
  onWrite(world, /^SYNC#/, follow)
}
