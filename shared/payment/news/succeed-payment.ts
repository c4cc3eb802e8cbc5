import type { Deps } from '../../deps.ts'
import { credit } from '../../ledger/shard-store.ts'
import { loggedPayment } from '../../log.ts'
import { PROVIDER_READ_TIMEOUT_MS, type ProviderPayment } from '../../provider/provider.ts'
import type { Step } from '../../table/step.ts'
import { transactWhileFresh } from '../../table/table.ts'
import type { Timestamp } from '../../time.ts'
import { type Announcement, announcementOf, tellWorkers } from '../announcement.ts'
import { commitSucceeded, putPointers, rememberCapture } from '../creating-store.ts'
import { newPayment } from '../new-payment.ts'
import type { CreatingPayment, FinalFee, NewsSource, Payment } from '../payment.ts'
import { leavePending, transitioned } from '../payment-store.ts'
import type { OnCreating } from './apply-news.ts'
import type { NewsDeps, ProviderNews } from './ask-for-news.ts'

/** `undefined`: the payment has changed after the read; read it and decide again. */
export type TransitionResult = Payment | undefined

/** The payment after its capture: open, and credited with the estimated fee. */
export const paidBy = (
  deps: Pick<NewsDeps, 'stage'>,
  payment: Payment,
  { capture, at, source }: { readonly capture: ProviderPayment; readonly at: Timestamp; readonly source: NewsSource },
): Payment => {
  const finalFee = invoicedFee(deps, payment, at)
  return {
    ...transitioned(payment, 'succeeded', at, source),
    paidAt: at,
    openAt: at,
    creditedProviderPaymentId: capture.providerPaymentId,
    dueAt: undefined,
    ...(finalFee && { feeStatus: finalFee.status, finalFee }),
  }
}

/**
 * Moves a payment from `pending` to `succeeded`, with ledger credit, event and deliveries in one transaction (spec
 * 3.1). The condition on `pending` makes the credit happen once, however many callers bring the same capture. `paid_at`
 * is the time of this write, so the caller repeats a try that takes longer than the endpoints it read stay fresh. The
 * fee is not read here, because the settled row posts the payment later.
 */
export const succeedPayment = async (
  deps: NewsDeps,
  payment: Payment,
  capture: ProviderPayment,
  source: NewsSource,
): Promise<TransitionResult> => {
  const at = deps.now()
  const succeeded = paidBy(deps, payment, { capture, at, source })
  const told = await announcementOf(deps, succeeded, at)
  return commitSuccess(deps, succeeded, { payment: leavePending(succeeded), from: 'pending', at, source }, told)
}

type Success = {
  readonly payment: Step
  readonly from: 'pending' | undefined
  readonly at: Timestamp
  readonly source: NewsSource
}

const commitSuccess = async (
  deps: NewsDeps,
  succeeded: Payment,
  { payment, from, at, source }: Success,
  told: Announcement,
): Promise<TransitionResult> => {
  const ledger = credit({ ...succeeded, from }, succeeded.netMinor, at)
  const outcome = await transactWhileFresh(deps, { payment, ledger, ...told.steps }, told.freshUntil)
  if (outcome.applied !== true) return undefined
  // With 0 deliveries, this line shows that no endpoint of the merchant gets the event.
  deps.log.info('payment.succeeded', { ...loggedPayment(succeeded), source, deliveries: told.deliveries.length })
  await tellWorkers(deps, told)
  return succeeded
}

/** Under a contract that bills later, the tariff's fee is the actual fee, known at success. */
const invoicedFee = (
  { stage }: Pick<Deps, 'stage'>,
  { providerFeeMinor: feeMinor }: Pick<Payment, 'providerFeeMinor'>,
  at: Timestamp,
): FinalFee | undefined =>
  stage.providerFees === 'invoiced' ? { status: 'actual', feeMinor, at, invoiced: true } : undefined

const destinationOf = async (deps: NewsDeps, news: ProviderNews): Promise<string | undefined> => {
  if (news.requestStatus !== undefined) return news.destination
  const answer = await deps.provider.getRequest(news.paymentRequestId, PROVIDER_READ_TIMEOUT_MS)
  // The money has arrived and the customer no longer needs the destination. A missing answer does not delay the credit.
  return answer.kind === 'found' ? answer.value.destination : undefined
}

/** Money for a payment that is being created: remembered at once, credited after its attempt. */
export const creditCreating: OnCreating = async (deps, decision, news, source) => {
  const { creating, capture } = decision
  if (decision.do === 'succeed_creating') {
    const destination = await destinationOf(deps, news)
    const succeeded = await succeedCreatingPayment(deps, creating, { capture, destination, source })
    return succeeded ? { kind: 'applied', payment: succeeded } : 'again'
  }
  const dueAt = creating.leaseUntil ?? deps.now()
  const written = await rememberCapture(deps, creating, capture.providerPaymentId, dueAt)
  if (!written.applied) return 'again'
  deps.log.info('payment.capture_remembered', { payment_id: creating.paymentId })
  return { kind: 'deferred' }
}

type LateCapture = {
  readonly capture: ProviderPayment
  /** The destination of the paid request; a push has none. */
  readonly destination: string | undefined
  readonly source: NewsSource
}

/** `creating` to `succeeded`: the customer paid a request whose answer was lost. Refused while an attempt runs. */
const succeedCreatingPayment = async (
  deps: NewsDeps,
  creating: CreatingPayment,
  { capture, destination, source }: LateCapture,
): Promise<TransitionResult> => {
  const at = deps.now()
  const upstream = { paymentRequestId: capture.paymentRequestId, destination }
  const made = newPayment(creating, upstream, { createdAt: at, expiresAt: undefined })
  const succeeded = { ...paidBy(deps, made, { capture, at, source }), rememberedProviderPaymentIds: undefined }
  const [told] = await Promise.all([announcementOf(deps, succeeded, at), putPointers(deps, succeeded)])
  return commitSuccess(deps, succeeded, { payment: commitSucceeded(succeeded, at), from: undefined, at, source }, told)
}
