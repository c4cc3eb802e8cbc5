import type { Alert } from '../alerts.ts'
import type { Deps } from '../deps.ts'
import type { ClientId, PaymentId } from '../ids.ts'
import { type Minor, ZERO } from '../money.ts'
import { addMs, type Timestamp } from '../time.ts'
import type { FindingCause, MoneyCause, Suspense } from './suspense.ts'
import { ALERT_GRACE_MS, claimSuspenseAlert, endSuspenseAlert, putSuspense } from './suspense-store.ts'

type SuspenseDeps = Pick<Deps, 'table' | 'alerts' | 'log'>

/** The payment an item is about, where one is known. */
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

/** Money that a client has, or will be paid, and that the provider took back. Once per transaction of the provider's. */
export const receivable = (input: {
  readonly transactionId: string
  readonly cause: 'reversed_after_settlement' | 'reversed_in_part'
  readonly payment: NamedPayment
  readonly amountMinor: Minor
  readonly now: Timestamp
}): Suspense => ({
  ...finding({ ...input, subject: input.transactionId }),
  kind: 'receivable',
  amountMinor: input.amountMinor,
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

const messageOf = ({ kind, cause, suspenseId, amountMinor = ZERO, paymentId = 'unknown' }: Suspense): string => {
  if (kind === 'money') {
    return `The provider received ${amountMinor} IDR that no client was credited with (${cause}, payment ${paymentId}). Refund it or write it off: resolve-suspense.`
  }
  switch (cause) {
    case 'reversal_deducted':
      return `The provider took back ${amountMinor} IDR of payment ${paymentId}. No settlement had it yet, and none will: nothing is owed. Close it: resolve-suspense.`
    case 'reversed_upstream':
      return `The provider took back ${amountMinor} IDR that names payment ${paymentId} and is not what it was credited with, or took more than all of it. Look at it and close it: resolve-suspense.`
    case 'reversed_after_settlement':
    case 'reversed_in_part':
      return `The provider took back money of payment ${paymentId}: its client owes ${amountMinor} IDR (${cause}) that a settlement pays out or has paid. Recover it or write it off: resolve-suspense.`
    case 'left_out_though_closed':
      return `What its client is paid leaves out payment ${paymentId}, for which ${amountMinor} IDR were recovered or written off before: its client bears that twice, or was to be spared it. Give it back: resolve-suspense.`
    case 'reversal_undone':
      return `The provider gave back ${amountMinor} IDR of payment ${paymentId}: a dispute was won. Its client is paid it, and owes nothing for it any more. Close it: resolve-suspense.`
    case 'undone_unclear':
      return `The provider gave back ${amountMinor} IDR that name payment ${paymentId} and are not all of what one dispute took. Nothing follows by itself: see list-suspense for what is owed, and close it: resolve-suspense.`
    case 'undone_though_closed':
      return `The provider gave back money of payment ${paymentId}, for which ${amountMinor} IDR were recovered, written off or given back before. See who has borne it, settle it with its client, and close it: resolve-suspense.`
    case 'credited_difference':
    case 'settled_difference':
      return `The books of a client differ by ${amountMinor} IDR, for an hour or longer (${suspenseId}). Pay out nothing of it: get-books shows the figures, audit-ledger the places.`
    case 'provider_overdue':
      return `The provider has not settled ${amountMinor} IDR of a client's payments that it should have by now (${suspenseId}). get-books shows the figures. It closes itself once they are settled; what never will be: resolve-suspense.`
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
