import { creditShard } from '../../ledger/shard-store.ts'
import type { ProviderPayment } from '../../provider/provider.ts'
import type { Timestamp } from '../../time.ts'
import { commitTransition } from '../announcement.ts'
import { commitSucceeded, rememberCapture, writePointers } from '../creating-store.ts'
import { newPayment } from '../new-payment.ts'
import type { CreatingPayment, NewsSource, Payment } from '../payment.ts'
import { leavePending, withTransition } from '../payment-store.ts'
import type { NewsDeps, ProviderNews } from './ask-for-news.ts'
import type { Decision } from './decide-on-news.ts'

type SuccessFacts = {
  readonly capture: ProviderPayment
  readonly at: Timestamp
  readonly createdAt?: Timestamp | undefined
  readonly source: NewsSource
}

/**
 * Moves a payment from `pending` to `succeeded`, with ledger credit, event and deliveries in one
 * transaction (spec 3.1). The condition on `pending` credits a capture once, however many callers
 * report it. Undefined: the payment has changed, or the write took so long that `paid_at` is stale;
 * decide again. The fee is not read here, because the settled row posts the payment later.
 */
export async function succeedPayment(
  deps: NewsDeps,
  payment: Payment,
  capture: ProviderPayment,
  source: NewsSource,
): Promise<Payment | undefined> {
  const at = deps.now()
  const paidPayment = creditedPayment(deps, payment, { capture, at, source })
  const ledger = creditShard({ ...paidPayment, from: 'pending' }, paidPayment.netMinor, at)
  const outcome = await commitTransition(deps, paidPayment, {
    payment: leavePending(paidPayment),
    ledger,
  })
  return outcome.applied ? paidPayment : undefined
}

/** The payment is open, and credited with the estimated fee. */
export function creditedPayment(
  { stage }: Pick<NewsDeps, 'stage'>,
  payment: Payment,
  { capture, at, source }: SuccessFacts,
): Payment {
  return {
    ...withTransition(payment, 'succeeded', at, source),
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

export function creditedNewPayment(
  deps: Pick<NewsDeps, 'stage'>,
  creating: CreatingPayment,
  destination: string | undefined,
  facts: SuccessFacts,
): Payment {
  const upstream = { paymentRequestId: facts.capture.paymentRequestId, destination }
  const pendingPayment = newPayment(creating, upstream, {
    createdAt: facts.createdAt ?? facts.at,
    expiresAt: undefined,
  })
  return {
    ...creditedPayment(deps, pendingPayment, facts),
    rememberedProviderPaymentIds: undefined,
  }
}

type CreditOutcome =
  | { readonly kind: 'applied'; readonly payment: Payment }
  | { readonly kind: 'deferred' }
  | 'again'

/**
 * `creating` to `succeeded`: the customer paid a request whose answer was lost. While an attempt
 * runs, the capture is only remembered, and credited after the attempt.
 */
export async function creditCreatingPayment(
  deps: NewsDeps,
  { do: action, creating, capture }: Extract<Decision, { readonly creating: unknown }>,
  news: ProviderNews,
  source: NewsSource,
): Promise<CreditOutcome> {
  if (action === 'remember') {
    const dueAt = creating.leaseUntil ?? deps.now()
    const write = await rememberCapture(deps, creating, capture.providerPaymentId, dueAt)
    if (!write.applied) return 'again'
    deps.log.info('payment.capture_remembered', { payment_id: creating.paymentId })
    return { kind: 'deferred' }
  }
  let { destination } = news
  if (news.requestStatus === undefined) {
    const answer = await deps.provider.getRequest(news.paymentRequestId)
    // A missing answer must not delay the credit: the customer has paid and no longer needs the
    // destination.
    destination = answer.kind === 'found' ? answer.value.destination : undefined
  }
  const at = deps.now()
  const paidPayment = creditedNewPayment(deps, creating, destination, { capture, at, source })
  await writePointers(deps, paidPayment)
  const ledger = creditShard({ ...paidPayment, from: undefined }, paidPayment.netMinor, at)
  const outcome = await commitTransition(deps, paidPayment, {
    payment: commitSucceeded(paidPayment, at),
    ledger,
  })
  return outcome.applied ? { kind: 'applied', payment: paidPayment } : 'again'
}
