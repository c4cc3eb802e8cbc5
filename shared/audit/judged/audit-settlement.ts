import * as v from 'valibot'
import type { Entry } from '../../journal/entry.ts'
import { entryRow, PositionSchema } from '../../journal/entry-store.ts'
import { recreditEntry } from '../../settlement/close-settlement.ts'
import { returnedEntry } from '../../settlement/return-payout.ts'
import type { Settlement } from '../../settlement/settlement.ts'
import { bankReferenceRow, settlementRow } from '../../settlement/settlement-store.ts'
import { sweptSpan } from '../../settlement/statement/settlement-entries.ts'
import { addBlock, EntrySumsSchema, emptySums, sumPages } from '../../settlement/sum-entries.ts'
import { attributeName } from '../../table/attributes.ts'
import { bankReferenceKey, entryKey } from '../../table/keys.ts'
import {
  compare,
  type Difference,
  DifferenceSchema,
  MAX_DIFFERENCES,
  onlyIf,
  tryToMake,
} from '../../verdict/difference.ts'
import { readSettlementVerdict } from '../../verdict/settlement-verdict-store.ts'
import { auditEntries, readingInto } from './audit-entries.ts'
import {
  type ClientBooks,
  type JudgeDeps,
  readTrail,
  type StoredSettlement,
} from './client-books.ts'
import { derivedSettlement } from './derive-settlement.ts'
import { rowDifferences } from './stored-rows.ts'

/** The sums of whole blocks, the last entry in these blocks, and the differences so far. */
export const RecountSchema = v.object({
  sums: EntrySumsSchema,
  position: v.optional(PositionSchema),
  differences: v.array(DifferenceSchema),
})
export type Recount = v.InferOutput<typeof RecountSchema>

/**
 * Derives a settlement from its entries, its client and its audit records, and the rows that it
 * determines (design section 4, "Audit").
 */
export async function auditSettlement(
  deps: JudgeDeps,
  books: ClientBooks,
  { settlement, item }: StoredSettlement,
  recount?: Recount,
): Promise<readonly Difference[]> {
  const { settlementId: id, status, sweptFrom, sweptUntil } = settlement
  const [trail, verdict, { sums, differences }] = await Promise.all([
    readTrail(deps, id, books.clientId),
    readSettlementVerdict(deps, id),
    recount ?? recountSettlement(deps, books, { settlement, item }),
  ])
  const derived = derivedSettlement(settlement, books, { sums, records: trail.records })
  return [
    // Without a verdict the settlement is never audited nor paid out.
    ...onlyIf(
      status === 'recorded' && verdict === undefined,
      compare('settlement.verdict', id, 'present', 'missing'),
    ),
    ...onlyIf(
      sweptUntil <= sweptFrom,
      compare('settlement.swept_until', id, 'after its start', sweptUntil),
    ),
    ...rowDifferences('settlement', id, settlementRow(derived), item),
    ...differences,
    ...trail.differences,
  ]
}

/** The rows that a settlement's payout and re-credit have written. */
export async function auditWitnesses(
  deps: JudgeDeps,
  settlement: Settlement,
): Promise<readonly Difference[]> {
  const { settlementId, clientId, bankReference, recreditedAt, returnedAt } = settlement
  const entry =
    recreditedAt === undefined
      ? returnedAt && tryToMake(() => returnedEntry(settlement, returnedAt))
      : tryToMake(() => recreditEntry(settlement, recreditedAt))
  const [reference, entryItem] = await Promise.all([
    bankReference === undefined ? undefined : deps.table.get(bankReferenceKey(bankReference)),
    entry && deps.table.get(entryKey(clientId, entry)),
  ])
  return [
    ...(bankReference === undefined
      ? []
      : rowDifferences('bank_reference', settlementId, bankReferenceRow(settlementId), reference)),
    ...(entry ? rowDifferences('entry', entry.entryId, entryRow(entry), entryItem) : []),
  ]
}

/**
 * Sums the same blocks again, and compares each entry with its source. `isOver` ends the recount
 * after a page; another run continues after the last whole block.
 */
export async function recountSettlement(
  deps: JudgeDeps,
  books: ClientBooks,
  { settlement }: StoredSettlement,
  from: Recount = { sums: emptySums(settlement.settlementId), differences: [] },
  isOver = () => false,
): Promise<Recount & { readonly isWhole: boolean }> {
  const { clientId } = books
  const span = sweptSpan(settlement)
  const differences = [...from.differences]
  const { read, itemOf } = readingInto(differences)
  const auditPage = async (entries: readonly Entry[]) => {
    const found = await auditEntries(deps, books, { entries, itemOf })
    differences.push(...found.slice(0, MAX_DIFFERENCES - differences.length))
    return entries
  }
  const window = { clientId, span, read }
  const { carried, ...sum } = await sumPages(
    deps,
    window,
    { ...from, carried: [] },
    isOver,
    auditPage,
  )
  return {
    ...sum,
    differences,
    ...(sum.isWhole && { sums: addBlock(sum.sums, carried, span.start) }),
  }
}

const SUMS = v.keyof(EntrySumsSchema).options

export function isAboutSums({ what }: Difference): boolean {
  return SUMS.some((field) => what === `settlement.${attributeName(field)}`)
}
