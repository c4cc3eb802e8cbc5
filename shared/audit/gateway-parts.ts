import { slotOf } from '../ids.ts'
import { bookDay } from '../journal/day-totals.ts'
import { type HouseEntry, rowDayOf } from '../journal/house-store.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { dayNumber } from '../time.ts'
import { confirmedDifferences } from '../verdict/difference.ts'
import type { Verdict } from '../verdict/verdict-store.ts'
import {
  type AuditDeps,
  CYCLE_DAYS,
  confirmedPart,
  type DuePart,
  dayOfSlot,
  dueOn,
  dueParts,
  type Part,
  SUSPENSE,
} from './due-parts.ts'
import { auditBatches } from './judged/audit-batches.ts'
import {
  auditHouseAdjustments,
  auditJournal,
  type DaySpan,
  dayText,
  FIRST_DAY,
  houseDays,
  type JournalSpan,
  LAST_DAY,
  type ReadDays,
} from './judged/audit-journal.ts'
import { auditRegister, readNotes } from './judged/audit-registers.ts'
import { auditNotes, type Judged, judgeSuspense } from './judged/audit-suspense.ts'
import { auditSubjects } from './judged/audit-trails.ts'

/** History is judged by so many days at once. */
const BLOCK_DAYS = 30
/** Each night reads what these days have added. */
const LATELY_DAYS = 3
/** Most rows are booked within so many days. */
const BOOKED_WITHIN_DAYS = 400
/** Most rows about an item are made within so many days. */
const ITEM_DAYS = 230

/**
 * What the gateway's audit judges: each night the registers, what is open and what is new; of house
 * journal, suspense, its register, batches and chains a share, like the history of a client.
 */
export async function gatewayParts(
  deps: AuditDeps,
  { historyDay, standing }: Pick<Verdict, 'historyDay' | 'standing'>,
  day: number,
) {
  const isDue = dueOn(day, historyDay)
  const readDays: ReadDays = new Map()
  const today = dayNumber(deps.now())
  const recent: DaySpan = [dayText(today - LATELY_DAYS), LAST_DAY]
  const [firstBlock, lastBlock] = (await houseDays(deps)).map((one) => Math.floor(one / BLOCK_DAYS))
  const blocks = range(firstBlock, lastBlock)
  const trails = () => auditSubjects(deps, GATEWAY_OWNER, { full: true })
  const parts: readonly DuePart[] = [
    [true, confirmedPart(deps, 'register', () => auditRegister(deps))],
    [
      true,
      housePart(
        deps,
        { key: SUSPENSE },
        {
          within: [today - BOOKED_WITHIN_DAYS, Infinity],
          span: recent,
          readDays,
          lists: ['open', recent],
        },
      ),
    ],
    [
      isDue(dayOfSlot(day, slotOf(GATEWAY_OWNER, CYCLE_DAYS))),
      confirmedPart(deps, 'all trails', trails),
    ],
    ...range(0, CYCLE_DAYS - 1).flatMap((slot) => {
      const isIn = (owner: string) => slotOf(owner, CYCLE_DAYS) === slot
      const isInBatches = (number: number) => number % CYCLE_DAYS === slot
      const judged = {
        noted: async () => auditNotes(deps, await readNotes(deps, isIn)),
        'payout batches': () => auditBatches(deps, isInBatches),
      }
      return Object.entries(judged).map(([name, judge]) => {
        const key = `${name} ${String(slot).padStart(2, '0')}`
        return [isDue(dayOfSlot(day, slot)), confirmedPart(deps, key, judge)] as const
      })
    }),
    ...blocks.map((block) => {
      const first = block * BLOCK_DAYS
      const last = first + BLOCK_DAYS - 1
      // The first block has what is older too, and the last what is newer.
      const span: DaySpan = [
        block === firstBlock ? FIRST_DAY : dayText(first),
        block === lastBlock ? LAST_DAY : dayText(last),
      ]
      const within = [first - BOOKED_WITHIN_DAYS, last + ITEM_DAYS] as const
      const part = { key: `house ${dayText(first)}`, day: last }
      // Not all old blocks are due on the same day.
      const isBlockDue = isDue(first + (block % CYCLE_DAYS))
      return [isBlockDue, housePart(deps, part, { within, span, readDays, lists: [span] })] as const
    }),
  ]
  return dueParts(parts, standing)
}

function range(first = 0, last = 0): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

type House = JournalSpan & Pick<Judged, 'lists'>

/** Entries and totals of a span, listed suspense, and suspense that the entries name. */
function housePart(deps: AuditDeps, part: Omit<Part, 'judge'>, { lists, ...journal }: House): Part {
  return {
    ...part,
    judge: async (state, isOver) => {
      let { entries, differences } = await auditJournal(deps, journal)
      const ofHouse = await confirmedDifferences(deps, async (isAgain) => {
        // An old item may be resolved, and an old row be void, after any time.
        const { span } = journal
        if (isAgain) ({ entries, differences } = await auditJournal(deps, { span }))
        return [...differences, ...(await auditHouseAdjustments(deps, entries))]
      })
      const named = namedItems(entries, journal.span)
      const items = await judgeSuspense(deps, entries, { lists, named, state, isOver })
      return { ...items, differences: [...ofHouse, ...items.differences] }
    },
  }
}

/** Suspense that entries of the span name, and suspense that holds money by all its entries. */
function namedItems(entries: readonly HouseEntry[], [from, until]: DaySpan) {
  const isIn = (day: string) => day >= from && day <= until
  const byItem = Map.groupBy(entries, ({ suspenseId }) => suspenseId)
  const named = [...byItem].flatMap(([id, own]) => {
    const isInSpan = own.some((one) => isIn(rowDayOf(one)) || isIn(bookDay(one.postedAt)))
    const isHeld = own.reduce((sum, { suspenseMinor }) => sum + suspenseMinor, 0) !== 0
    return id !== undefined && (isInSpan || isHeld) ? [id] : []
  })
  return new Set(named)
}
