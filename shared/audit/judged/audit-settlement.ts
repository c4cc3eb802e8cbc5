import * as v from 'valibot'
import { BankSchema } from '../../client/client.ts'
import { timeOfUuid } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { type Entry, fieldsText } from '../../journal/entry.ts'
import { PositionSchema } from '../../journal/entry-store.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { periodOf, type Settlement } from '../../settlement/settlement.ts'
import { sweptSpan } from '../../settlement/statement/settlement-entries.ts'
import { addBlock, EntrySumsSchema, emptySums, sumPages } from '../../settlement/sum-entries.ts'
import { attributeName, FromItem } from '../../table/attributes.ts'
import { addMs, MINUTE_MS, type Timestamp, TimestampSchema, timestampOf } from '../../time.ts'
import {
  compare,
  compareAll,
  type Difference,
  DifferenceSchema,
  MAX_DIFFERENCES,
  onlyIf,
  toValue,
} from '../../verdict/difference.ts'
import { readSettlementVerdict } from '../../verdict/settlement-verdict-store.ts'
import { auditEntries } from './audit-entries.ts'
import {
  type ClientBooks,
  type JudgeDeps,
  readTrail,
  type StoredSettlement,
} from './client-books.ts'

/** The sums of whole blocks, the last entry in these blocks, and the differences so far. */
export const RecountSchema = v.object({
  sums: EntrySumsSchema,
  position: v.optional(PositionSchema),
  differences: v.array(DifferenceSchema),
})
export type Recount = v.InferOutput<typeof RecountSchema>

/**
 * Compares a settlement with its entries, the previous window, and operators' audit records (design
 * section 4, "Audit").
 */
export async function auditSettlement(
  deps: JudgeDeps,
  books: ClientBooks,
  row: StoredSettlement,
  recount?: Recount,
) {
  const { settlement } = row
  const { settlementId: id } = settlement
  const [trail, verdict, { sums, differences }] = await Promise.all([
    readTrail(deps, id),
    readSettlementVerdict(deps, id),
    recount ?? recountSettlement(deps, books, row),
  ])
  return [
    ...auditPlace(row),
    // Without a verdict the settlement is never audited nor paid out.
    ...onlyIf(
      settlement.status === 'recorded' && verdict === undefined,
      compare('settlement.verdict', id, 'present', 'missing'),
    ),
    ...compareSums(settlement, sums),
    ...differences,
    ...auditBank(settlement, registeredAccounts(books.clientRecords)),
    ...trail.differences,
    ...compareTrail(settlement, trail.records),
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
  const auditPage = async (entries: readonly Entry[]) => {
    const found = await auditEntries(deps, books, entries)
    differences.push(...found.slice(0, MAX_DIFFERENCES - differences.length))
    return entries
  }
  const window = { clientId, span }
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

/** A wrong index attribute hides the settlement from its client or from the payout. */
function auditPlace({ settlement, item }: StoredSettlement): readonly Difference[] {
  const { settlementId: id, clientId, status, createdAt } = settlement
  const isDue = status === 'recorded'
  // The id is chosen when the sum begins.
  const idTime = timestampOf(timeOfUuid(id))
  return compareAll('settlement', id, [
    ['owner', clientId, toValue(item['owner'])],
    ['entity', 'settlement', toValue(item['entity'])],
    ['id', id, toValue(item['id'])],
    ['created_at', createdAt < idTime ? `from ${idTime} on` : createdAt, createdAt],
    ['due_at', isDue ? createdAt : undefined, toValue(item['dueAt'])],
    ['listed_at', periodOf(settlement).end, toValue(item['listedAt'])],
    ['work', isDue ? 'payout' : undefined, toValue(item['work'])],
  ])
}

const SUMS = v.keyof(EntrySumsSchema).options

function compareSums(settlement: Settlement, sums: Recount['sums']): readonly Difference[] {
  return SUMS.flatMap((field) => {
    const about = [sumName(field), settlement.settlementId] as const
    if (field !== 'totals') return compare(...about, sums[field], settlement[field])
    const isSame = totalsText(sums.totals) === totalsText(settlement.totals)
    return onlyIf(!isSame, compare(...about, 'those of its entries', 'different'))
  })
}

function sumName(field: (typeof SUMS)[number]) {
  return `settlement.${attributeName(field)}`
}

/** The table keeps no order of a total's members. */
function totalsText(totals: Settlement['totals']): string {
  return totals.map(fieldsText).join()
}

/** The bank details of a client from a time on, as an audit record shows them. */
type Registration = { readonly at: Timestamp; readonly account: string }

/**
 * A settlement is paid out to an account that its client was registered with when it was recorded.
 */
export function auditBank(
  settlement: Settlement,
  registrations: readonly Registration[],
): readonly Difference[] {
  const { settlementId: id, createdAt } = settlement
  // A settlement reads its client shortly before it is recorded, and clocks differ a little.
  const [from, until] = [addMs(createdAt, -15 * MINUTE_MS), addMs(createdAt, MINUTE_MS)]
  // Two records of one millisecond have no order: both count.
  const endOf = (start: Timestamp) => registrations.find(({ at }) => at > start)?.at ?? until
  const accounts = registrations.filter(({ at }) => at <= until && endOf(at) >= from)
  const expected = accounts.at(-1)
  const found = accountText(settlement.bank)
  if (expected === undefined || accounts.some(({ account }) => account === found)) return []
  return compare('settlement.bank', id, expected.account, found)
}

function accountText(bank: Settlement['bank'] | null): string {
  if (!bank) return 'none'
  const { bankName, bankAccountNo, bankAccountName, since, isChange } = bank
  return `${bankName} ${bankAccountNo} ${bankAccountName} since ${since}${isChange ? ', a change' : ''}`
}

const BankRecord = v.object({
  bank: v.nullable(v.pipe(FromItem, v.omit(BankSchema, ['since', 'isChange']))),
  bank_since: v.nullable(TimestampSchema),
  bank_is_change: v.boolean(),
})

/** Registrations have the order of the audit records, because clocks differ. */
export function registeredAccounts(records: readonly AuditRecord[]): readonly Registration[] {
  const registrations: Registration[] = []
  for (const { at: writtenAt, after } of records.toSorted((a, b) => a.number - b.number)) {
    const record = ifValid(BankRecord, after)
    if (record === undefined) continue
    const { bank, bank_since: since, bank_is_change: isChange } = record
    const account = accountText(bank && since && { ...bank, since, isChange })
    const last = registrations.at(-1)
    // A slow clock must not put a change before the previous change.
    registrations.push({
      at: last && writtenAt <= last.at ? addMs(last.at, 1) : writtenAt,
      account,
    })
  }
  return registrations
}

/** Compares both ways: no state without its record, no record without its state. */
function compareTrail(
  settlement: Settlement,
  records: readonly AuditRecord[],
): readonly Difference[] {
  const {
    settlementId: id,
    status,
    bankReference,
    settledAt,
    notes,
    recreditedAt,
    triggeredBy,
  } = settlement
  const recordOf = (action: string) => records.find((record) => record.action === action)
  const [paidRecord, failedRecord] = [
    recordOf('mark-settlement-paid')?.after,
    recordOf('mark-settlement-failed')?.after,
  ]
  const recordText = (isSo: boolean) => (isSo ? 'recorded' : 'not recorded')
  const stateActions = {
    'mark-settlement-paid': status === 'manual_paid',
    'mark-settlement-failed': status === 'failed',
    'recredit-settlement': recreditedAt !== undefined,
    'trigger-settlement': triggeredBy === 'manual',
  }
  return compareAll('settlement', id, [
    ['notes', toValue((paidRecord ?? failedRecord)?.['notes'] ?? undefined), notes],
    ['bank_reference', toValue(paidRecord?.['bank_reference']), bankReference],
    ['settled_at', toValue(paidRecord?.['settled_at']), settledAt],
    ...Object.entries(stateActions).map(
      ([action, isDone]) =>
        [action, recordText(recordOf(action) !== undefined), recordText(isDone)] as const,
    ),
  ])
}

export function isAboutSums({ what }: Difference): boolean {
  return SUMS.map(sumName).includes(what)
}
