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
import { compare } from '../../verdict/difference.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import { readTrail } from './audit-trails.ts'

const LAST_BATCHES = 10

/**
 * The batches are as their records and their settlements say: those of these numbers, or without
 * numbers the last ones, whose register is an intact chain.
 */
export async function auditBatches(deps: StoreDeps, isIn?: (number: number) => boolean) {
  const { records, differences } = await readTrail(deps, BATCHES_SUBJECT, undefined)
  const opened = [...openedBatches(records)]
  const found = isIn ? [] : [...differences]
  const due = isIn ? opened.filter(([number]) => isIn(number)) : opened.slice(-LAST_BATCHES)
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
