import type { TableDeps } from '../../deps.ts'
import { referenceOf } from '../../ids.ts'
import { creditShard } from '../../ledger/shard-store.ts'
import type { ProviderPayment, ProviderTransaction } from '../../provider/provider.ts'
import { findSuspense, requireOpen } from '../../suspense/suspense-store.ts'
import type { Steps } from '../../table/table.ts'
import { type AnnouncedEnd, commitTransition } from '../announcement.ts'
import { commitSucceeded, rememberCapture, writePointers } from '../creating-store.ts'
import { endAsCredited } from '../held-money.ts'
import { newPayment } from '../new-payment.ts'
import type { CreatingPayment, NewsSource, Payment, StoredPayment } from '../payment.ts'
import { leavePending, withTransition } from '../payment-store.ts'
import type { NewsDeps, ProviderNews } from './ask-for-news.ts'
import type { Decision } from './decide-on-news.ts'

/** `created_at`, `payment_destination`: as the event of a payment that was created says. */
type SuccessFacts = Omit<AnnouncedEnd, 'failure_reason'> & {
  readonly capture: ProviderPayment
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
  held: Steps<string> = {},
): Promise<Payment | undefined> {
  const plan = (end: AnnouncedEnd) => {
    const paid = creditedPayment(deps, payment, { ...end, capture, source })
    const ledger = creditShard({ ...paid, from: 'pending' }, paid.netMinor, end.at)
    return { payment: paid, steps: { payment: leavePending(paid), ledger, ...held } }
  }
  const committed = await commitTransition(deps, plan, () => isUnheld(deps, capture))
  if (!committed.outcome.applied) return undefined
  await endHeld(deps, capture, held)
  return committed.payment
}

type Capture = Pick<ProviderPayment, 'providerPaymentId'>

/** A capture in suspense came after the capture that the event announced. */
export async function isUnheld(deps: TableDeps, capture: Capture) {
  const item = await findSuspense(deps, capture.providerPaymentId)
  return item === undefined || item.resolution === 'credited'
}

/**
 * The condition of a credit: held money is not given back meanwhile. Undefined if the money was
 * held while its payment was lost, and was given back.
 */
export async function creditCondition(
  deps: TableDeps,
  { providerPaymentId: id }: Capture,
): Promise<Steps<string> | undefined> {
  const item = await findSuspense(deps, id)
  if (item?.status !== 'open') return item && item.resolution !== 'credited' ? undefined : {}
  return { held: requireOpen(id) }
}

/** An open item would take a row without its payment's name. After a crash the posting ends it. */
async function endHeld(deps: NewsDeps, { providerPaymentId }: Capture, held: Steps<string>) {
  const item = held['held'] && (await findSuspense(deps, providerPaymentId))
  if (item) await endAsCredited(deps, item)
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
    capture: storedCapture(payment, capture),
    dueAt: undefined,
    // Under a contract that bills later, the tariff's fee is the actual fee.
    ...(stage.providerFees === 'invoiced' && {
      feeStatus: 'actual',
      finalFee: { status: 'actual', feeMinor: payment.providerFeeMinor, at, invoiced: true },
    }),
  }
}

function storedCapture(
  payment: Payment,
  { providerPaymentId, paymentRequestId, reference }: ProviderPayment,
): Payment['capture'] {
  const own = ownRequestOf(payment)
  const isOwn = own.paymentRequestId === paymentRequestId && own.reference === reference
  return isOwn ? { providerPaymentId } : { providerPaymentId, paymentRequestId, reference }
}

function ownRequestOf({ paymentId, attempt, paymentRequestId }: Payment) {
  return { paymentRequestId, reference: referenceOf(paymentId, attempt) }
}

export function creditedNewPayment(
  deps: Pick<NewsDeps, 'stage'>,
  creating: CreatingPayment,
  destination: string | undefined,
  facts: SuccessFacts,
): Payment {
  const { paymentRequestId } = facts.capture
  const upstream = { paymentRequestId, destination: facts.payment_destination ?? destination }
  const pendingPayment = newPayment(creating, upstream, {
    createdAt: facts.created_at ?? facts.at,
    expiresAt: undefined,
  })
  return {
    ...creditedPayment(deps, pendingPayment, facts),
    rememberedProviderPaymentIds: undefined,
  }
}

/**
 * `creating` to `succeeded`: the customer paid a request whose answer was lost. While an attempt
 * runs, the capture is only remembered, and credited after the attempt.
 */
export async function creditCreatingPayment(
  deps: NewsDeps,
  { do: action, creating, capture }: Extract<Decision, { readonly creating: unknown }>,
  news: ProviderNews,
  source: NewsSource,
  held: Steps<string>,
) {
  if (action === 'remember') {
    const dueAt = creating.leaseUntil ?? deps.now()
    const write = await rememberCapture(deps, creating, capture.providerPaymentId, dueAt)
    if (!write.applied) return 'again'
    deps.log.info('payment.capture_remembered', { payment_id: creating.paymentId })
    return { kind: 'deferred' } as const
  }
  let { destination } = news
  if (news.requestStatus === undefined) {
    const answer = await deps.provider.getRequest(news.paymentRequestId)
    // A missing answer must not delay the credit: the customer has paid and no longer needs the
    // destination.
    destination = answer.kind === 'found' ? answer.value.destination : undefined
  }
  const plan = (end: AnnouncedEnd) => {
    const paid = creditedNewPayment(deps, creating, destination, { ...end, capture, source })
    const ledger = creditShard({ ...paid, from: undefined }, paid.netMinor, end.at)
    return { payment: paid, steps: { payment: commitSucceeded(paid, deps.now()), ledger, ...held } }
  }
  // The pointers' keys have the time of the payment.
  const at = deps.now()
  const isOfCapture = () => isUnheld(deps, capture)
  await writePointers(deps, plan({ at }).payment)
  const { outcome, payment } = await commitTransition(deps, plan, isOfCapture, at)
  if (!outcome.applied) return 'again'
  await endHeld(deps, capture, held)
  return { kind: 'applied', payment } as const
}

type Ids = 'type' | 'providerPaymentId' | 'paymentRequestId' | 'reference'

/**
 * The provider does not document which ids money back or a dispute carries. The capture decides,
 * else its request, else its reference: money of another attempt is not credited.
 */
export function isAboutCredit(
  stored: StoredPayment | undefined,
  { type, providerPaymentId, paymentRequestId, reference }: Partial<Pick<ProviderTransaction, Ids>>,
): stored is Payment {
  if (stored?.status !== 'succeeded') return false
  if (type === 'payment' || providerPaymentId)
    return providerPaymentId === stored.capture?.providerPaymentId
  const credited = { ...ownRequestOf(stored), ...stored.capture }
  return paymentRequestId === undefined
    ? reference === credited.reference
    : paymentRequestId === credited.paymentRequestId
}
