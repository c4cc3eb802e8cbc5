import type {
  ProviderTransaction,
  TransactionFilter,
  TransactionPage,
  Unanswered,
} from '../../../shared/provider/provider.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, type Timestamp } from '../../../shared/time.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { creditedPayment, paidUpstream } from '../../support/synced-payment.ts'
import { interceptTable, memoryDeps, type TestDeps, writtenKeys } from '../../support/test-deps.ts'
import { clientTest } from '../settlement/client-test.ts'

/**
 * The `it` for tests of the sync. Each test has its own gateway. After each test the client's books
 * are audited. `rows`: the provider's transactions. `sync`: adds rows and runs the sync.
 * `showAnew`: the provider shows a changed row. `paid`: a pending payment whose callback was lost.
 * `credited`: a payment that was credited with its estimated fee.
 */
export const syncTest = clientTest
  .extend('deps', () => memoryDeps())
  .extend('rows', ({ deps }) => deps.provider.transactions)
  .extend('sync', ({ deps, rows }) => (...newRows: readonly ProviderTransaction[]) => {
    rows.push(...newRows)
    return syncProviderTransactions(deps)
  })
  .extend(
    'syncAfter',
    ({ deps, sync }) =>
      (seconds: number, ...newRows: readonly ProviderTransaction[]) => {
        deps.clock.advance(seconds)
        return sync(...newRows)
      },
  )
  .extend('syncDays', ({ syncAfter }) => async (days: number) => {
    for (let day = 0; day < days; day++) await syncAfter(86_400)
  })
  .extend(
    'showAnew',
    ({ deps, rows }) =>
      (row: ProviderTransaction, fields: Partial<ProviderTransaction>) => {
        const at = rows.findIndex(({ transactionId: id }) => id === row.transactionId)
        rows.splice(at, 1, { ...row, ...fields, updatedAt: deps.now() })
      },
  )
  .extend('paid', ({ deps, client }) => paidUpstream(deps, client))
  .extend('credited', ({ deps, client }) => creditedPayment(deps, client))

/** Each process dies before it writes the finding. */
export function dyingBefore(deps: TestDeps, suspenseId: string) {
  return interceptTable(deps, {
    before: (call) => {
      if (writtenKeys([call]).some(({ pk }) => pk.includes(suspenseId)))
        throw new Error('the process died')
    },
  })
}

export const foreignIds = { providerPaymentId: 'inv-1 ?/', reference: 'order 17' }

export function foreignRow(at: Timestamp) {
  return settledRow({ providerPaymentId: `inv-${crypto.randomUUID()}`, reference: 'order' }, at)
}

type HeadFilter = TransactionFilter & {
  readonly updatedFrom: Timestamp
  readonly updatedTo: Timestamp
}

/**
 * Records every request for a page of the head. `state.answer` may replace the provider's answer.
 */
export function recordListings(deps: TestDeps) {
  const listings: HeadFilter[] = []
  type Answer = Unanswered | { readonly kind: 'found'; readonly value: TransactionPage }
  const state: { answer: ((question: number) => Answer | undefined) | undefined } = {
    answer: undefined,
  }
  deps.provider.script('listTransactions', async (filter) => {
    const isHead = filter.updatedFrom !== undefined
    if (isHead) listings.push(filter as HeadFilter)
    const answer = isHead ? state.answer?.(listings.length) : undefined
    return answer ?? deps.provider.healthy.listTransactions(filter)
  })
  return { listings, state }
}

/** Syncs every row up to now, then adds `count` new rows. */
export async function withBacklog(deps: TestDeps, count: number) {
  await syncProviderTransactions(deps)
  deps.clock.advance(300)
  for (let n = 0; n < count; n++)
    deps.provider.transactions.push({ ...foreignRow(addMs(deps.now(), -n)), status: 'pending' })
  return recordListings(deps)
}
