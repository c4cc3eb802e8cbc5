import type { Alert } from '../alerts.ts'
import type { Deps } from '../deps.ts'
import type { ClientId, PaymentId } from '../ids.ts'
import { type Minor, minor, ZERO } from '../money.ts'
import { addMs, type Timestamp } from '../time.ts'
import type { FindingCause, MoneyCause, Suspense } from './suspense.ts'
import { ALERT_GRACE_MS, claimSuspenseAlert, endSuspenseAlert, putSuspense } from './suspense-store.ts'

type SuspenseDeps = Pick<Deps, 'table' | 'alerts' | 'log'>

/** The payment an item is about, where one is known. */
type MovedBy = { readonly transactionId: string; readonly type: string; readonly amountMinor: Minor }

type NamedPayment = { readonly paymentId: PaymentId; readonly clientId: ClientId }

/** Money without a payment it may be credited to. Its id is the provider payment's: once, whoever brings the news. */
export const heldMoney = (input: {
  readonly capture: { readonly providerPaymentId: string; readonly capturedMinor: Minor }
  readonly cause: MoneyCause
  readonly payment: NamedPayment | undefined
  readonly now: Timestamp
}): Suspense => ({
  suspenseId: input.capture.providerPaymentId,
  kind: 'money',
  cause: input.cause,
  amountMinor: input.capture.capturedMinor,
  paymentId: input.payment?.paymentId,
  clientId: input.payment?.clientId,
  providerPaymentId: input.capture.providerPaymentId,
  status: 'open',
  createdAt: input.now,
})

/** Something that does not add up although no money is held. Once per subject and cause. */
export const finding = (input: {
  readonly subject: PaymentId | string
  readonly cause: FindingCause
  readonly payment: NamedPayment | undefined
  readonly now: Timestamp
}): Suspense => ({
  suspenseId: `${input.subject}#${input.cause}`,
  kind: 'finding',
  cause: input.cause,
  paymentId: input.payment?.paymentId,
  clientId: input.payment?.clientId,
  status: 'open',
  createdAt: input.now,
})

/** A row that moved a payment's money, with what it took from the client or gave back. Told once, and nothing is open. */
export const movedMoney = (payment: NamedPayment, row: MovedBy, netMinor: Minor, now: Timestamp): Suspense => ({
  ...finding({
    subject: `${row.transactionId}#${row.type}`,
    cause: netMinor > 0 ? 'money_came_back' : 'money_went_back',
    payment,
    now,
  }),
  amountMinor: minor(Math.abs(netMinor)),
  status: 'resolved',
  resolution: 'explained',
})

/** A row beyond the movements that a payment can have. */
export const tooManyMovements = (payment: NamedPayment, row: MovedBy, now: Timestamp): Suspense => ({
  ...finding({ subject: `${row.transactionId}#${row.type}`, cause: 'too_many_movements', payment, now }),
  amountMinor: row.amountMinor,
})

const messageOf = ({ kind, cause, suspenseId, amountMinor = ZERO, paymentId = 'unknown' }: Suspense): string => {
  if (kind === 'money') {
    return `The provider received ${amountMinor} IDR that no client was credited with (${cause}, payment ${paymentId}). Refund it or write it off: resolve-suspense.`
  }
  switch (cause) {
    case 'money_went_back':
      return `The provider took back money of payment ${paymentId} (${suspenseId}). Its client's next settlement is ${amountMinor} IDR less. Nothing is left to do; get-payment shows the movement.`
    case 'money_came_back':
      return `The provider gave back money of payment ${paymentId} (${suspenseId}). Its client's next settlement is ${amountMinor} IDR more. Nothing is left to do; get-payment shows the movement.`
    case 'disputed_amount_unknown':
      return `A dispute of payment ${paymentId} took ${amountMinor} IDR, fee included, and shows no fee. See the disputed amount in the provider's dashboard, book it with adjust-ledger, then close this: resolve-suspense.`
    case 'too_many_movements':
      return `Payment ${paymentId} has 50 movements; a further row of ${amountMinor} IDR was not applied. Look at it and close it: resolve-suspense.`
    case 'reversed_upstream':
      return `The provider took back ${amountMinor} IDR that names payment ${paymentId} and is not what it was credited with. Look at it and close it: resolve-suspense.`
    case 'event_gone':
      return `The event ${suspenseId} of payment ${paymentId} is not in the table any more, and its delivery was skipped. The merchant does not know of it: tell them, and close this: resolve-suspense.`
    default:
      return `The books cannot explain ${suspenseId} (${cause}, payment ${paymentId}). Look at it and close it: resolve-suspense.`
  }
}

const alertFor = (item: Suspense): Alert => ({
  kind: `suspense.${item.kind}`,
  subject: item.suspenseId,
  message: messageOf(item),
})

/**
 * Tells the operators about an item, then takes it out of due work. A crash in between repeats the alert; it never
 * swallows it. A topic that cannot be reached is left to due work.
 */
export const publishSuspenseAlert = async (deps: SuspenseDeps, item: Suspense): Promise<boolean> => {
  try {
    await deps.alerts.publish(alertFor(item))
  } catch (cause) {
    deps.log.error('alert.failed', { suspense_id: item.suspenseId }, cause)
    return false
  }
  await endSuspenseAlert(deps, item.suspenseId)
  deps.log.info('alert.published', { suspense_id: item.suspenseId })
  return true
}

/** Due work `alert` of an item. Answers whether the operators were told. */
export const checkSuspenseAlert = async (
  deps: SuspenseDeps & Pick<Deps, 'now'>,
  due: { readonly suspenseId: string; readonly dueAt: Timestamp },
): Promise<boolean> => {
  // Moved forward before publishing, so that alerts that cannot be published do not block those behind them.
  const item = await claimSuspenseAlert(deps, due, addMs(deps.now(), ALERT_GRACE_MS))
  return item !== undefined && publishSuspenseAlert(deps, item)
}

/** The one line about an item that was written down. */
export const logSuspense = ({ log }: Pick<Deps, 'log'>, { suspenseId, cause, paymentId, kind }: Suspense): void =>
  log.warn('suspense.recorded', { suspense_id: suspenseId, cause, kind, payment_id: paymentId })

/** Notes an item once and alerts the operators. Known already: nothing happens. */
export const recordSuspense = async (deps: SuspenseDeps, item: Suspense): Promise<void> => {
  const written = await putSuspense(deps, item)
  if (!written.applied) return
  logSuspense(deps, item)
  await publishSuspenseAlert(deps, item)
}
