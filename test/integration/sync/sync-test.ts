import { test } from 'vitest'
import type {
  ProviderTransaction,
  TransactionFilter,
  TransactionPage,
  Unanswered,
} from '../../../shared/provider/provider.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, type Timestamp } from '../../../shared/time.ts'
import { pageOfRows, settledRow } from '../../support/fake-provider.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { creditedPayment, paidUpstream } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/**
 * The `it` of a gateway of its own, whose client's books are audited after each test: `rows` is the provider's list of
 * transactions, `sync` adds rows to it and runs the sync, `paid` is a payment whose callback was lost, `credited` one that was credited with the estimate of its fee.
 */
export const syncTest = test
  .extend('deps', () => memoryDeps())
  .extend('client', async ({ deps }, { onCleanup }) => {
    const client = await aStoredClient(deps)
    onCleanup(() => expectBalanced(deps, client.clientId))
    return client
  })
  .extend('rows', ({ deps }) => deps.provider.transactions)
  .extend('sync', ({ deps, rows }) => (...added: readonly ProviderTransaction[]) => {
    rows.push(...added)
    return syncProviderTransactions(deps)
  })
  .extend('syncAfter', ({ deps, sync }) => (seconds: number, ...added: readonly ProviderTransaction[]) => {
    deps.clock.advance(seconds)
    return sync(...added)
  })
  .extend('paid', ({ deps, client }) => paidUpstream(deps, client))
  .extend('credited', ({ deps, client }) => creditedPayment(deps, client))

export const foreignRow = (at: Timestamp) =>
  settledRow({ providerPaymentId: `inv-${crypto.randomUUID()}`, reference: 'order' }, at)

type Asked = TransactionFilter & { readonly updatedFrom: Timestamp; readonly updatedTo: Timestamp }

/** Every question for a page of the head, and answers from somewhere else when `answer` has one. */
export const recordQuestions = (deps: TestDeps, rows: Parameters<typeof pageOfRows>[0]) => {
  const asked: Asked[] = []
  type Answer = Unanswered | { readonly kind: 'found'; readonly value: TransactionPage }
  const state: { answer: ((question: number) => Answer | undefined) | undefined } = { answer: undefined }
  deps.provider.script('listTransactions', async (filter) => {
    const page = { kind: 'found', value: pageOfRows(rows, filter) } as const
    if (filter.updatedFrom === undefined) return page
    asked.push(filter as Asked)
    return state.answer?.(asked.length) ?? page
  })
  return { asked, state }
}

/** A gateway that has read every row up to now, and so many new rows after that. */
export const withBacklog = async (deps: TestDeps, rows: ReturnType<typeof foreignRow>[], count: number) => {
  await syncProviderTransactions(deps)
  deps.clock.advance(300)
  for (let n = 0; n < count; n++) rows.push({ ...foreignRow(addMs(deps.now(), -n)), status: 'pending' })
  return recordQuestions(deps, rows)
}
