import type { StoreDeps, TableDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import {
  BATCHES_SUBJECT,
  type BatchRow,
  BatchSchema,
  batchSubject,
  digestOfLines,
  payoutLines,
} from '../../settlement/batch/batch.ts'
import {
  isList,
  openedBatches,
  settlementItemsIn,
  stateIn,
} from '../../settlement/batch/batch-store.ts'
import { SettlementSchema } from '../../settlement/settlement.ts'
import { batchKey } from '../../table/keys.ts'
import { dayNumber } from '../../time.ts'
import { compare, type Difference } from '../../verdict/difference.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import { readTrail } from './audit-trails.ts'

/** Each older one is compared once in so many days, and when its file is asked for again. */
const CYCLE_DAYS = 30
const LAST_BATCHES = 10

/**
 * The register of batches is an intact chain, and the batches that are due are as their records and
 * their settlements say.
 */
export async function auditBatches(deps: StoreDeps): Promise<readonly Difference[]> {
  const { records, differences } = await readTrail(deps, BATCHES_SUBJECT, undefined)
  const found = [...differences]
  const opened = [...openedBatches(records)]
  const today = dayNumber(deps.now())
  const due = opened.filter(
    ([number], at) =>
      at >= opened.length - LAST_BATCHES || number % CYCLE_DAYS === today % CYCLE_DAYS,
  )
  for (const [number, createdAt] of due) {
    const stored = await deps.table.get(batchKey(number))
    const batch = ifValid(BatchSchema, stored)
    const trail = await readTrail(deps, batchSubject(number), undefined)
    const said = stateIn(trail.records)
    const made = batch && { number, createdAt, settlementIds: await derivedList(deps, batch, said) }
    found.push(
      ...trail.differences,
      ...(made
        ? rowDifferences('batch', String(number), made, stored)
        : compare('batch', String(number), 'present', stored ? 'unreadable' : 'missing')),
    )
  }
  return found
}

/** Its list has the digest that a record shows, and of a ready batch its lines too. */
async function derivedList(
  deps: TableDeps,
  row: BatchRow,
  { state, digest, listDigest }: ReturnType<typeof stateIn>,
) {
  const { settlementIds } = row
  // The row of a cancelled batch that was lost is written anew, without its list.
  if (settlementIds === undefined && state === 'cancelled') return undefined
  if (!isList(settlementIds, listDigest)) return OTHER_LIST
  if (state !== 'ready') return settlementIds
  const items = await settlementItemsIn(deps, row)
  const settlements = items.flatMap((item) => ifValid(SettlementSchema, item) ?? [])
  // The audit of its client names a settlement that cannot be read.
  if (settlements.length < items.length) return settlementIds
  return digestOfLines(payoutLines(settlements)) === digest ? settlementIds : OTHER_LIST
}

const OTHER_LIST = 'those of its digest'
