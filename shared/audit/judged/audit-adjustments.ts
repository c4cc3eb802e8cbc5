import type { StoreDeps } from '../../deps.ts'
import type { Entry } from '../../journal/entry.ts'
import { findEntry } from '../../journal/entry-store.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import type { Adjustment } from '../../posting/adjustment-store.ts'
import { type Difference, differs } from '../../verdict/difference.ts'
import type { ClientBooks } from './client-books.ts'

const isAdjusted = ({ type, paymentId }: Entry): boolean =>
  paymentId === undefined && (type === 'recovered' || type === 'written_off' || type === 'correction')

const compare = (adjustment: Adjustment, entry: Entry): readonly Difference[] => [
  ...differs('entry.type', entry.entryId, adjustment.kind, entry.type),
  ...differs('entry.net_minor', entry.entryId, adjustment.amountMinor, entry.netMinor),
  ...differs('entry.eligible_at', entry.entryId, adjustment.eligibleAt, entry.eligibleAt),
  ...differs(
    'entry.provider_transaction_id',
    entry.entryId,
    adjustment.providerTransactionId,
    entry.providerTransactionId,
  ),
]

/** Compares each entry that an operator made with its adjustment. */
export const auditAdjustedEntries = (
  { adjustments }: Pick<ClientBooks, 'adjustments'>,
  entries: readonly Entry[],
): readonly Difference[] =>
  entries.filter(isAdjusted).flatMap((entry) => {
    const adjustment = adjustments.find(({ entryId }) => entryId === entry.entryId)
    return adjustment ? compare(adjustment, entry) : differs('entry', entry.entryId, 'one of an adjustment', entry.type)
  })

const referenceIn = ({ action, after }: AuditRecord): readonly string[] =>
  action === 'adjust-ledger' && typeof after?.['reference'] === 'string' ? [after['reference']] : []

/** Every adjustment has its entry and its record, and every record its adjustment. */
export const auditAdjustments = async (
  deps: StoreDeps,
  { clientId, adjustments, clientRecords }: ClientBooks,
): Promise<readonly Difference[]> => {
  const recorded = new Set(clientRecords.flatMap(referenceIn))
  const made = new Set(adjustments.map(({ reference }) => reference))
  const found = await Promise.all(
    adjustments.map(async (adjustment) => {
      const { reference, entryId } = adjustment
      const entry = await findEntry(deps, { clientId }, adjustment)
      return [
        ...differs('adjustment', reference, 'recorded', recorded.has(reference) ? 'recorded' : 'not recorded'),
        ...(entry
          ? compare(adjustment, entry)
          : differs('entry', entryId, `that of adjustment ${reference}`, 'not there')),
      ]
    }),
  )
  const lost = [...recorded].filter((reference) => !made.has(reference))
  return [...found.flat(), ...lost.flatMap((reference) => differs('adjustment', reference, 'there', 'not there'))]
}
