import { credit } from '../../ledger/shard-store.ts'
import type { ProviderPayment } from '../../provider/provider.ts'
import type { Timestamp } from '../../time.ts'
import { commitTransition } from '../announcement.ts'
import { commitSucceeded, putPointers, rememberCapture } from '../creating-store.ts'
import { newPayment } from '../new-payment.ts'
import type { CreatingPayment, NewsSource, Payment } from '../payment.ts'
import { leavePending, transitioned } from '../payment-store.ts'
import type { NewsDeps, ProviderNews } from './ask-for-news.ts'
import type { Decision } from './decide-on-news.ts'

type Paid = {
  readonly capture: ProviderPayment
  readonly at: Timestamp
  readonly createdAt?: Timestamp | undefined
  readonly source: NewsSource
}

/**
 * Moves a payment from `pending` to `succeeded`, with ledger credit, event and deliveries in one transaction (spec
 * 3.1). The condition on `pending` credits a capture once, however many callers report it.
 * Undefined: the payment has changed, or the write took so long that `paid_at` is stale; decide again. The fee is not
 * read here, because the settled row posts the payment later.
 */
export async function succeedPayment(
  deps: NewsDeps,
  payment: Payment,
  capture: ProviderPayment,
  source: NewsSource,
): Promise<Payment | undefined> {
  const at = deps.now()
  const succeeded = asSucceeded(deps, payment, { capture, at, source })
  const ledger = credit({ ...succeeded, from: 'pending' }, succeeded.netMinor, at)
  const outcome = await commitTransition(deps, succeeded, {
    payment: leavePending(succeeded),
    ledger,
  })
  return outcome.applied ? succeeded : undefined
}

/** The payment after its capture: open, and credited with the estimated fee. */
export function asSucceeded(
  { stage }: Pick<NewsDeps, 'stage'>,
  payment: Payment,
  { capture, at, source }: Paid,
): Payment {
  return {
    ...transitioned(payment, 'succeeded', at, source),
    paidAt: at,
    openAt: at,
    creditedProviderPaymentId: capture.providerPaymentId,
    dueAt: undefined,
    // Under a contract that bills later, the tariff's fee is the actual fee.
    ...(stage.providerFees === 'invoiced' && {
      feeStatus: 'actual',
      finalFee: { status: 'actual', feeMinor: payment.providerFeeMinor, at, invoiced: true },
    }),
  }
}

/** The same for a payment that is still being created: it becomes visible as succeeded. */
export function asSucceededFromCreating(
  deps: Pick<NewsDeps, 'stage'>,
  creating: CreatingPayment,
  destination: string | undefined,
  paid: Paid,
): Payment {
  const upstream = { paymentRequestId: paid.capture.paymentRequestId, destination }
  const made = newPayment(creating, upstream, {
    createdAt: paid.createdAt ?? paid.at,
    expiresAt: undefined,
  })
  return { ...asSucceeded(deps, made, paid), rememberedProviderPaymentIds: undefined }
}

type Credited =
  | { readonly kind: 'applied'; readonly payment: Payment }
  | { readonly kind: 'deferred' }
  | 'again'

/**
 * `creating` to `succeeded`: the customer paid a request whose answer was lost. While an attempt runs, its capture is
 * only remembered. It is credited after the attempt.
 */
export async function creditCreating(
  deps: NewsDeps,
  { do: what, creating, capture }: Extract<Decision, { readonly creating: unknown }>,
  news: ProviderNews,
  source: NewsSource,
): Promise<Credited> {
  if (what === 'remember') {
    const dueAt = creating.leaseUntil ?? deps.now()
    const written = await rememberCapture(deps, creating, capture.providerPaymentId, dueAt)
    if (!written.applied) return 'again'
    deps.log.info('payment.capture_remembered', { payment_id: creating.paymentId })
    return { kind: 'deferred' }
  }
  let { destination } = news
  if (news.requestStatus === undefined) {
    const answer = await deps.provider.getRequest(news.paymentRequestId)
    // A missing answer must not delay the credit: the customer has paid and no longer needs the destination.
    destination = answer.kind === 'found' ? answer.value.destination : undefined
  }
  const at = deps.now()
  const succeeded = asSucceededFromCreating(deps, creating, destination, { capture, at, source })
  await putPointers(deps, succeeded)
  const ledger = credit({ ...succeeded, from: undefined }, succeeded.netMinor, at)
  const outcome = await commitTransition(deps, succeeded, {
    payment: commitSucceeded(succeeded, at),
    ledger,
  })
  return outcome.applied ? { kind: 'applied', payment: succeeded } : 'again'
}
