import type { Deps } from '../deps.ts'
import { assertNever } from '../errors.ts'
import type { PaymentId } from '../ids.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../provider/provider.ts'
import { finding, recordSuspense } from '../suspense/record-suspense.ts'
import { addMs, later, type Timestamp } from '../time.ts'
import { type ApplyOutcome, applyProviderReport } from './apply-provider-report.ts'
import { nextCheckAt, RETRY_CHECK_MS } from './channel-timing.ts'
import { closePayment } from './close-payment.ts'
import type { CreatingPayment, Payment } from './payment.ts'
import { claimCheck, endCheck, parseStored, scheduleCheck } from './payment-store.ts'

type CheckDeps = Pick<Deps, 'table' | 'sleep' | 'random' | 'provider' | 'now' | 'newId' | 'log' | 'alerts'>

/** `rate_limited`: the provider wants no more questions for now. */
export type CheckResult = 'checked' | 'not_claimed' | 'unanswered' | 'rate_limited'

const resultOf = (outcomes: readonly ApplyOutcome[]): CheckResult => {
  const open = outcomes.filter((outcome) => outcome.kind === 'unanswered')
  if (open.some(({ reason }) => reason === 'rate_limited')) return 'rate_limited'
  return open.length > 0 ? 'unanswered' : 'checked'
}

/** Asks about every capture that was reported while the payment was being created. */
const askAboutRemembered = async (
  deps: CheckDeps,
  ids: ReadonlySet<string> | undefined,
): Promise<readonly ApplyOutcome[]> => {
  const outcomes: ApplyOutcome[] = []
  for (const providerPaymentId of ids ?? []) {
    outcomes.push(await applyProviderReport(deps, { providerPaymentId }, 'due_work'))
  }
  return outcomes
}

const noteNotFound = (deps: CheckDeps, payment: Payment) =>
  recordSuspense(deps, finding({ subject: payment.paymentId, cause: 'not_found_upstream', payment, now: deps.now() }))

/**
 * Past its expiry a payment is cancelled upstream first, then expires: wallets and QRIS take no expiry of ours and
 * would stay payable. What the provider knows better is applied instead.
 */
const enforceExpiry = async (deps: CheckDeps, payment: Payment): Promise<ApplyOutcome> => {
  const answer = await deps.provider.cancelRequest(payment.paymentRequestId, PROVIDER_READ_TIMEOUT_MS)
  const closeNow = async (): Promise<ApplyOutcome> => {
    const status = payment.cancelRequestedAt === undefined ? 'expired' : 'cancelled'
    return { kind: 'applied', payment: await closePayment(deps, payment, status, 'due_work') }
  }
  switch (answer.kind) {
    case 'final':
      return applyProviderReport(deps, { paymentRequestId: payment.paymentRequestId }, 'due_work')
    case 'not_found':
      await noteNotFound(deps, payment)
      return closeNow()
    case 'cancelled':
    case 'not_cancellable':
      return closeNow()
    case 'unanswered':
      return answer
    default:
      return assertNever(answer)
  }
}

const askAboutOwnRequest = async (deps: CheckDeps, payment: Payment): Promise<ApplyOutcome> => {
  if (payment.expiresAt !== undefined && payment.expiresAt <= deps.now()) return enforceExpiry(deps, payment)
  const outcome = await applyProviderReport(deps, { paymentRequestId: payment.paymentRequestId }, 'due_work')
  if (outcome.kind === 'not_found') await noteNotFound(deps, payment)
  return outcome
}

const checkPending = async (deps: CheckDeps, payment: Payment, claimedDueAt: Timestamp): Promise<CheckResult> => {
  const outcomes = [
    ...(await askAboutRemembered(deps, payment.rememberedPaymentIds)),
    await askAboutOwnRequest(deps, payment),
  ]
  const result = resultOf(outcomes)
  // Without an answer the claim's own due time stands: it is asked again soon.
  if (result === 'checked') {
    await scheduleCheck(deps, payment.paymentId, claimedDueAt, nextCheckAt(payment, deps.now()))
  }
  return result
}

const checkCreating = async (
  deps: CheckDeps,
  creating: CreatingPayment,
  claimedDueAt: Timestamp,
): Promise<CheckResult> => {
  const outcomes = await askAboutRemembered(deps, creating.rememberedPaymentIds)
  const result = resultOf(outcomes)
  if (result === 'checked' && outcomes.every(({ kind }) => kind !== 'deferred')) {
    await endCheck(deps, creating.paymentId, claimedDueAt)
  }
  return result
}

/**
 * Looks at one due payment: lost callbacks, captures remembered while creating, and our own expiry (design section 4).
 * The claim moves the due time forward, so of two workers one asks, and a crash is asked again after two minutes.
 */
export const checkDuePayment = async (
  deps: CheckDeps,
  due: { readonly paymentId: PaymentId; readonly dueAt: Timestamp },
): Promise<CheckResult> => {
  const claimedDueAt = addMs(later(deps.now(), due.dueAt), RETRY_CHECK_MS)
  const claimed = await claimCheck(deps, due.paymentId, due.dueAt, claimedDueAt)
  const stored = claimed.applied ? parseStored(claimed.item) : undefined
  if (stored === undefined) return 'not_claimed'
  const result = await (stored.status === 'creating'
    ? checkCreating(deps, stored, claimedDueAt)
    : checkPending(deps, stored, claimedDueAt))
  if (result !== 'checked') deps.log.warn('payment.check_failed', { payment_id: due.paymentId, reason: result })
  return result
}
