import { minor } from '../../shared/money.ts'
import type { ProviderTransaction, TransactionFilter, TransactionPage } from '../../shared/provider/provider.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../shared/time.ts'
import type { TestDeps } from './test-deps.ts'

const matches = (row: ProviderTransaction, filter: TransactionFilter) =>
  (filter.updatedFrom === undefined || row.updatedAt >= filter.updatedFrom) &&
  (filter.updatedTo === undefined || row.updatedAt <= filter.updatedTo) &&
  (filter.providerPaymentId === undefined || row.providerPaymentId === filter.providerPaymentId) &&
  (filter.reference === undefined || row.reference === filter.reference)

/** One page as the provider answers it: newest first, behind a row it knows. */
export const pageOfRows = (rows: readonly ProviderTransaction[], filter: TransactionFilter): TransactionPage => {
  const matching = rows.filter((row) => matches(row, filter)).toReversed()
  const behind = matching.findIndex(({ transactionId }) => transactionId === filter.afterId) + 1
  const transactions = matching.slice(behind, behind + filter.limit)
  return { transactions, hasMore: behind + transactions.length < matching.length }
}

/** The provider's list of transactions: what is pushed into the array answered is in it from then on. */
export const listedTransactions = (deps: Pick<TestDeps, 'provider'>): ProviderTransaction[] => {
  const rows: ProviderTransaction[] = []
  deps.provider.script('listTransactions', async (filter) => ({ kind: 'found', value: pageOfRows(rows, filter) }))
  return rows
}

/** The row of a payment of 100,000: settled, 4,440 kept. */
export const settledRow = (
  paid: { readonly providerPaymentId: string; readonly reference: string },
  at: Timestamp,
  fields: Partial<ProviderTransaction> = {},
): ProviderTransaction => ({
  type: 'payment',
  transactionId: `txn_${crypto.randomUUID()}`,
  providerPaymentId: paid.providerPaymentId,
  paymentRequestId: undefined,
  reference: paid.reference,
  status: 'success',
  currency: 'IDR',
  amountMinor: minor(100_000),
  keptMinor: minor(4_440),
  settledAt: addMs(at, -MINUTE_MS),
  updatedAt: at,
  ...fields,
})

/** The same row before the provider has settled it. */
export const NOT_SETTLED = { keptMinor: undefined, settledAt: undefined } as const

/** What the sync finds about a payment that was made and paid at the fake provider. */
export const referenceOfRequest = ({ provider }: Pick<TestDeps, 'provider'>, paymentRequestId: string): string => {
  const request = provider.requests.get(paymentRequestId)
  if (!request) throw new Error('the provider knows no such request')
  return request.reference
}
