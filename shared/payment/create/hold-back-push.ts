import { assertNever } from '../../errors.ts'
import { PROVIDER_READ_TIMEOUT_MS, type ProviderPayment, type ProviderTransaction } from '../../provider/provider.ts'
import { addMs, type Timestamp } from '../../time.ts'
import type { Push } from '../channel/channels.ts'
import { applyNews } from '../news/apply-news.ts'
import { creditCreating } from '../news/apply-provider-news.ts'
import { askForNews, type ProviderNews } from '../news/ask-for-news.ts'
import type { NewsDeps } from '../news/news-deps.ts'
import type { CreatingPayment, ProviderAttempt, StoredPayment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import { mayBeSent, referenceOf } from '../provider-attempts.ts'
import { ATTEMPT_LEASE_MS } from './create-times.ts'
import { createFailed } from './wait-for-attempt.ts'

/** A push has one row; more are read so that rows of other references cannot hide it. */
const ROWS_OF_PAGE = 50
const MOST_PAGES = 5

/** What became of the money of a payment afterwards does not say whether a push was paid. */
const MAY_BE_PAYMENT: ReadonlySet<ProviderTransaction['type']> = new Set(['payment', 'unknown'])

/** When our call had ended at the latest: of a process that died nobody knows more than that its lease is over. */
const endOfCall = ({ endedAt, startedAt }: ProviderAttempt): Timestamp => endedAt ?? addMs(startedAt, ATTEMPT_LEASE_MS)

/** Every row of exactly this reference, whatever the provider's filter lets through; it throws when some may be missing. */
const rowsOf = async (deps: NewsDeps, reference: string): Promise<readonly ProviderTransaction[]> => {
  const own: ProviderTransaction[] = []
  let afterId: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const filter = { reference, limit: ROWS_OF_PAGE, ...(afterId !== undefined && { afterId }) }
    const answer = await deps.provider.listTransactions(filter, PROVIDER_READ_TIMEOUT_MS)
    if (answer.kind !== 'found' || answer.value.unreadableIds?.length) break
    const { transactions, hasMore } = answer.value
    own.push(...transactions.filter((row) => row.reference === reference && MAY_BE_PAYMENT.has(row.type)))
    if (!hasMore) return own
    afterId = answer.value.afterId ?? transactions.at(-1)?.transactionId
    if (afterId === undefined) break
  }
  throw createFailed('the provider could not say whether a push was paid; retry with the same Idempotency-Key')
}

/** `no_money`: the push came to nothing that this payment could be credited with. */
type Verdict = 'no_money' | 'undecided' | { readonly overtakenBy: StoredPayment | undefined }

/** No money of this row can be seen: booked as paid it is yet to be shown, and otherwise its request says whether it may come. */
const withoutMoney = ({ status }: ProviderTransaction, { requestStatus }: ProviderNews): Verdict => {
  const isClosed = requestStatus === 'failed' || requestStatus === 'expired' || requestStatus === 'cancelled'
  return status !== 'success' && isClosed ? 'no_money' : 'undecided'
}

/** Another payment of the same request says nothing of this row's. A row that names none is known by its amount. */
const isOf = (row: ProviderTransaction, capture: ProviderPayment): boolean =>
  row.providerPaymentId === ''
    ? capture.capturedMinor === row.amountMinor
    : capture.providerPaymentId === row.providerPaymentId

/** A row that may stand for money: the provider's own news of it decides, and is applied like any other. */
const askAbout = async (deps: NewsDeps, creating: CreatingPayment, row: ProviderTransaction): Promise<Verdict> => {
  const { providerPaymentId, paymentRequestId, reference } = row
  const answer = await askForNews(deps, { providerPaymentId: providerPaymentId || undefined, paymentRequestId })
  if (answer.kind !== 'news' || answer.news.reference !== reference) return 'undecided'
  const { capture } = answer.news
  if (capture === undefined) return withoutMoney(row, answer.news)
  const outcome = await applyNews(deps, answer.news, 'create', { onCreating: creditCreating })
  const stored = await findStoredPayment(deps, creating.paymentId)
  if (stored?.status !== 'creating' || stored.attempt !== creating.attempt) return { overtakenBy: stored }
  if (outcome.kind !== 'applied') return 'undecided'
  // Applied, and still being created: the money is not what was asked for and is held in suspense.
  return isOf(row, capture) ? 'no_money' : withoutMoney(row, answer.news)
}

const verdictOn = async (deps: NewsDeps, creating: CreatingPayment, row: ProviderTransaction): Promise<Verdict> => {
  switch (row.status) {
    // Declined, or the money went back. What comes all the same is matched by its reference and credited or held.
    case 'failed':
    case 'reversed':
      return 'no_money'
    case 'unknown':
    case 'success':
    case 'pending':
      return askAbout(deps, creating, row)
    default:
      return assertNever(row.status)
  }
}

const verdictOnPush = async (
  deps: NewsDeps,
  creating: CreatingPayment,
  { number }: ProviderAttempt,
): Promise<Verdict> => {
  for (const row of await rowsOf(deps, referenceOf(creating.paymentId, number))) {
    const verdict = await verdictOn(deps, creating, row)
    if (verdict !== 'no_money') return verdict
  }
  return 'no_money'
}

/**
 * A push may still be answered on the customer's phone: a second one must not be sent beside it. Undefined: all that
 * were sent came to nothing, and the next may be. Answers the payment where one was paid or somebody else was first,
 * and throws (500, to be retried) while neither is certain. Older ones are asked about too: their rows may come late.
 * A capture that the payment remembers is due work's, which forgets it once it has been decided.
 */
export const holdBackPush = async (
  deps: NewsDeps,
  creating: CreatingPayment,
  { lifetimeMs }: Push,
): Promise<{ readonly overtakenBy: StoredPayment | undefined } | undefined> => {
  if (creating.rememberedProviderPaymentIds) {
    throw createFailed('money of a push was announced and is being looked at; retry with the same Idempotency-Key')
  }
  const pushes = creating.providerAttempts.filter(mayBeSent)
  const last = pushes.at(-1)
  if (last && deps.now() < addMs(endOfCall(last), lifetimeMs)) {
    throw createFailed('the push sent to the customer may still be answered; retry with the same Idempotency-Key')
  }
  for (const push of pushes.toReversed()) {
    const verdict = await verdictOnPush(deps, creating, push)
    if (verdict === 'undecided') {
      throw createFailed('a push is known to the provider and not decided yet; retry with the same Idempotency-Key')
    }
    if (verdict !== 'no_money') return verdict
  }
  return undefined
}
