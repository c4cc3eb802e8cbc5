import * as v from 'valibot'
import type { Entry } from '../../journal/entry.ts'
import { entryRow } from '../../journal/entry-store.ts'
import { entryAgainOf } from '../../settlement/return-payout.ts'
import type { Settlement } from '../../settlement/settlement.ts'
import { bankReferenceRow, settlementRow } from '../../settlement/settlement-store.ts'
import { sweptSpan } from '../../settlement/statement/settlement-entries.ts'
import {
  addBlock,
  EntrySumsSchema,
  emptySums,
  type SumProgress,
  sumPages,
} from '../../settlement/sum-entries.ts'
import { attributeName } from '../../table/attributes.ts'
import { bankReferenceKey, entryKey } from '../../table/keys.ts'
import { addMs, MINUTE_MS } from '../../time.ts'
import {
  compare,
  confirmedDifferences,
  type Difference,
  foremost,
  onlyIf,
} from '../../verdict/difference.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import { auditEntries, readingInto } from './audit-entries.ts'
import { readTrail } from './audit-trails.ts'
import {
  type ClientBooks,
  type JudgeDeps,
  OLD_MS,
  readClientBooks,
  type StoredSettlement,
} from './client-books.ts'
import { derivedSettlement } from './derive-settlement.ts'

/** Derives a settlement from its entries, its client and its audit records. */
export async function auditSettlement(
  deps: JudgeDeps,
  books: ClientBooks,
  { settlement, item }: StoredSettlement,
  { sums }: Pick<SumProgress, 'sums'>,
) {
  const { settlementId: id, createdAt } = settlement
  const trail = await readTrail(deps, id, books.clientId)
  const derived = derivedSettlement(settlement, books, { sums, records: trail.records })
  return [
    ...onlyIf(
      createdAt > addMs(deps.now(), MINUTE_MS),
      compare('settlement.created_at', id, 'a past time', createdAt),
    ),
    ...rowDifferences('settlement', id, settlementRow(derived), item),
    ...trail.differences,
  ]
}

type SettlementExtent = {
  readonly from?: SumProgress | undefined
  readonly isOver?: () => boolean
  /** False for a closed settlement: its payments are judged with their days. By default true. */
  readonly withPayments?: boolean
}

/**
 * Judges a settlement as it is now: its entries and their sources, itself, and the rows that its
 * payout and re-credit have written. `state`: `isOver` ended the run before the last entry.
 */
export async function judgeSettlement(
  deps: JudgeDeps,
  books: ClientBooks,
  stored: StoredSettlement,
  extent: SettlementExtent = {},
) {
  const { settlementId: id } = stored.settlement
  const summed = await sumAndAuditEntries(deps, books, stored, extent)
  if (!summed.isWhole) {
    const { sums, position } = summed
    return { differences: summed.differences, state: { sums, position } }
  }
  // A closed window has no new entries; only the settlement itself may be paid or re-credited now.
  const differences = await confirmedDifferences(deps, async (isAgain) => {
    const now = isAgain ? await readClientBooks(deps, books.client) : books
    const row = now.settlements.find(({ settlement }) => settlement.settlementId === id)
    // A missing or unreadable settlement is a difference of the figures.
    return row
      ? [
          ...(await auditSettlement(deps, now, row, summed)),
          ...(await auditWitnesses(deps, row.settlement)),
        ]
      : []
  })
  return { differences: [...summed.differences, ...differences] }
}

/** The rows that a settlement's payout and re-credit have written. */
export async function readWitnesses(deps: Pick<JudgeDeps, 'table'>, settlement: Settlement) {
  const { clientId, bankReference } = settlement
  const entry = entryAgainOf(settlement)
  const [reference, entryItem] = await Promise.all([
    bankReference === undefined ? undefined : deps.table.get(bankReferenceKey(bankReference)),
    entry && deps.table.get(entryKey(clientId, entry)),
  ])
  return { entry, entryItem, reference }
}

async function auditWitnesses(deps: JudgeDeps, settlement: Settlement) {
  const { settlementId, bankReference } = settlement
  const { entry, entryItem, reference } = await readWitnesses(deps, settlement)
  return [
    ...(bankReference === undefined
      ? []
      : rowDifferences('bank_reference', settlementId, bankReferenceRow(settlementId), reference)),
    ...(entry ? rowDifferences('entry', entry.entryId, entryRow(entry), entryItem) : []),
  ]
}

/**
 * Sums the same blocks again, and compares each entry with its source. `isOver` ends the run
 * after a page; another run continues after the last whole block. Old sources are read eventually,
 * and a page with a difference is judged again.
 */
async function sumAndAuditEntries(
  deps: JudgeDeps,
  books: ClientBooks,
  { settlement }: StoredSettlement,
  {
    from = { sums: emptySums(settlement.settlementId) },
    isOver,
    withPayments = true,
  }: SettlementExtent,
) {
  const { clientId } = books
  const span = sweptSpan(settlement)
  const isOld = span.end < addMs(deps.now(), -OLD_MS)
  const differences: Difference[] = []
  const { read, itemOf } = readingInto(differences)
  const auditPage = async (entries: readonly Entry[]) => {
    const judged = entries.filter(({ paymentId }) => withPayments || paymentId === undefined)
    const found = await confirmedDifferences(deps, (isAgain) => {
      const reads = isOld && !isAgain ? 'eventual' : 'consistent'
      // No event is younger than its entry's day, so the first look need not be consistent.
      const eventReads = isAgain ? 'consistent' : 'eventual'
      return auditEntries(deps, books, { entries: judged, itemOf, reads, eventReads })
    })
    differences.push(...foremost([...differences.splice(0), ...found]))
    return entries
  }
  const window = { clientId, span, read, reads: isOld ? ('eventual' as const) : undefined }
  const start = { ...from, remaining: [] }
  const { remaining, ...sum } = await sumPages(deps, window, start, isOver, auditPage)
  return {
    ...sum,
    differences,
    ...(sum.isWhole && { sums: addBlock(sum.sums, remaining, span.start) }),
  }
}

const SUMS = v.keyof(EntrySumsSchema).options

export function isAboutSums({ what }: Difference) {
  return SUMS.some((field) => what === `settlement.${attributeName(field)}`)
}
