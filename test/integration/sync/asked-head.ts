import type { TransactionFilter, TransactionPage, Unanswered } from '../../../shared/provider/provider.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, type Timestamp } from '../../../shared/time.ts'
import { pageOfRows, settledRow } from '../../support/fake-provider.ts'
import type { TestDeps } from '../../support/test-deps.ts'

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

/** A gateway that has read everything up to now, and many rows that come after. */
export const behind = async (deps: TestDeps, rows: ReturnType<typeof foreignRow>[], count: number) => {
  await syncProviderTransactions(deps)
  deps.clock.advance(300)
  for (let n = 0; n < count; n++) rows.push({ ...foreignRow(addMs(deps.now(), -n)), status: 'pending' })
  return recordQuestions(deps, rows)
}
