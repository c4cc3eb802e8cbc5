import { referenceOf } from '../../ids.ts'
import type { ProviderTransaction } from '../../provider/provider.ts'
import { addMs } from '../../time.ts'
import { ATTEMPT_LEASE_MS, mayBeUpstream } from '../creating-store.ts'
import { applyNews } from '../news/apply-news.ts'
import { askForNews, type NewsDeps, type ProviderNews } from '../news/ask-for-news.ts'
import type { CreatingPayment, StoredPayment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import { retryError } from './run-attempt.ts'

/** Another caller was first, or the payment is paid. `overtakenBy`: the payment's present state. */
export type OvertakenCreate = { readonly overtakenBy: StoredPayment | undefined }

/**
 * Prevents a second push while the customer can still pay an earlier push. Undefined: all earlier
 * pushes ended without money, and the next push may be sent. Throws (500, to be retried) while the
 * outcome of a push is unknown. A capture that the payment remembers is left to due work.
 */
export async function holdBackPush(
  deps: NewsDeps,
  creating: CreatingPayment,
  lifetimeMs: number,
): Promise<OvertakenCreate | undefined> {
  if (creating.rememberedProviderPaymentIds)
    throw retryError('the provider reports money for an earlier push')
  const pushes = creating.providerAttempts.filter(mayBeUpstream)
  const lastPush = pushes.at(-1)
  // The call of a process that died had ended with its lease at the latest.
  if (
    lastPush &&
    deps.now() < addMs(lastPush.endedAt ?? addMs(lastPush.startedAt, ATTEMPT_LEASE_MS), lifetimeMs)
  ) {
    throw retryError('the customer may still answer the earlier push')
  }
  for (const { number } of pushes.toReversed()) {
    for (const row of await rowsOf(deps, referenceOf(creating.paymentId, number))) {
      const verdict = await verdictOn(deps, creating, row)
      if (verdict === 'undecided')
        throw retryError('the provider has not decided an earlier push yet')
      if (verdict !== 'no_money') return verdict
    }
  }
  return undefined
}

/** Throws when rows may be missing. */
async function rowsOf(deps: NewsDeps, reference: string): Promise<readonly ProviderTransaction[]> {
  // A push has one row. More are read, because rows of other references could hide that row.
  const answer = await deps.provider.listTransactions({ reference, limit: 50 })
  if (answer.kind !== 'found' || answer.value.hasMore || answer.value.unreadableIds?.length) {
    throw retryError('the provider could not say whether a push was paid')
  }
  // Later reversals do not say whether a push was paid.
  return answer.value.transactions.filter(
    (row) => row.reference === reference && ['payment', 'unknown'].includes(row.type),
  )
}

/** `no_money`: the push ended without money that this payment could be credited with. */
type RowVerdict = 'no_money' | 'undecided' | OvertakenCreate

/**
 * The provider's own news decides about a row that may stand for money, and is applied as usual.
 */
async function verdictOn(deps: NewsDeps, creating: CreatingPayment, row: ProviderTransaction) {
  const { status, providerPaymentId, paymentRequestId, reference, amountMinor } = row
  // Declined or reversed. Money that comes later is matched by its reference, and credited or held.
  if (status === 'failed' || status === 'reversed') return 'no_money'
  const answer = await askForNews(deps, {
    providerPaymentId: providerPaymentId || undefined,
    paymentRequestId,
  })
  if (answer.kind !== 'news' || answer.news.reference !== reference) return 'undecided'
  const { capture } = answer.news
  if (capture === undefined) return verdictWithoutMoney(row, answer.news)
  const outcome = await applyNews(deps, answer, 'create')
  const stored = await findStoredPayment(deps, creating.paymentId)
  if (stored?.status !== 'creating' || stored.attempt !== creating.attempt)
    return { overtakenBy: stored }
  if (outcome.kind !== 'applied') return 'undecided'
  // Applied, and the payment is still being created: the amount differs, or the money was given
  // back. A row without a payment id is matched by its amount.
  const isOfRow = providerPaymentId
    ? capture.providerPaymentId === providerPaymentId
    : capture.capturedMinor === amountMinor
  return isOfRow ? 'no_money' : verdictWithoutMoney(row, answer.news)
}

/**
 * A paid row's capture, or a missing payment, may still appear; else the request decides. A missing
 * payment has no time limit here, because a second push could take the money twice.
 */
function verdictWithoutMoney(
  { status }: ProviderTransaction,
  { requestStatus, isMissing }: ProviderNews,
): RowVerdict {
  const isClosed =
    requestStatus === 'failed' || requestStatus === 'expired' || requestStatus === 'cancelled'
  return status !== 'success' && isClosed && !isMissing ? 'no_money' : 'undecided'
}
