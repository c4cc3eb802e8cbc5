import type { Deps } from '../deps.ts'
import { type Minor, minor, ZERO } from '../money.ts'
import type { Timestamp } from '../time.ts'
import { isLapsed, nextAlertAt } from './dispute.ts'
import type { FindingCause, MoneyCause, Suspense } from './suspense.ts'
import {
  claimSuspenseAlert,
  closeSuspense,
  endSuspenseAlert,
  postponeAlert,
  writeSuspense,
} from './suspense-store.ts'

export type SuspenseDeps = Pick<Deps, 'table' | 'alerts' | 'log' | 'now'>

type MoneyRow = {
  readonly transactionId: string
  readonly type: string
  readonly amountMinor: Minor
}

export type NamedPayment = Pick<Suspense, 'paymentId' | 'clientId'>

type Origin<Cause> = {
  readonly cause: Cause
  readonly payment: NamedPayment | undefined
  readonly now: Timestamp
}

/** Records an item once and alerts the operators. A second call does nothing. */
export async function recordSuspense(deps: SuspenseDeps, item: Suspense): Promise<void> {
  if ((await writeSuspense(deps, item)).applied) await reportSuspense(deps, item)
}

/** Reports an item that was written just now. */
export async function reportSuspense(deps: SuspenseDeps, item: Suspense): Promise<void> {
  logSuspense(deps, item)
  await publishSuspenseAlert(deps, item)
}

export function logSuspense(
  { log }: Pick<Deps, 'log'>,
  { suspenseId, cause, paymentId, kind }: Suspense,
): void {
  log.warn('suspense.recorded', { suspense_id: suspenseId, cause, kind, payment_id: paymentId })
}

/**
 * Publishes an alert, then ends its due work, or sets the time of a dispute's next alert; a crash
 * in between repeats the alert. False: due work must try again.
 */
export async function publishSuspenseAlert(deps: SuspenseDeps, item: Suspense): Promise<boolean> {
  try {
    await deps.alerts.publish({
      kind: `suspense.${item.kind}`,
      subject: item.suspenseId,
      message: messageOf(item),
    })
  } catch (cause) {
    deps.log.error('alert.failed', { suspense_id: item.suspenseId }, cause)
    return false
  }
  const againAt = nextAlertAt(item, deps.now())
  if (againAt === undefined) await endSuspenseAlert(deps, item.suspenseId)
  else await postponeAlert(deps, item, againAt)
  deps.log.info('alert.published', { suspense_id: item.suspenseId })
  return true
}

function messageOf(item: Suspense): string {
  const { kind, cause, suspenseId, amountMinor = ZERO, paymentId = 'unknown' } = item
  const close = `run resolve-suspense --suspense_id ${suspenseId}`
  if (cause === 'payment_foreign') {
    const what = kind === 'money' ? `${amountMinor} IDR of it are held` : 'it is not posted'
    return `Payment ${paymentId} is stored under a client that its id does not belong to, so ${what} (${suspenseId}). Its row was changed. get-payment shows the stored client, and audit-ledger of that client names the right one. Follow the runbook, suspense, then ${close}.`
  }
  if (kind === 'case') return messageOfCase(item)
  if (kind === 'money') {
    return `The provider received ${amountMinor} IDR that the gateway credits to no client (${cause}, payment ${paymentId}). Refund it in the provider's dashboard, which resolves the item. After a refund by bank or a write-off, ${close}.`
  }
  switch (cause) {
    case 'money_went_back':
      return `The provider took back money of payment ${paymentId} (${suspenseId}). The client's next settlement is ${amountMinor} IDR less. ${amountMinor > 0 ? 'No action is needed; get' : 'The house bears it: get'}-payment shows the movement.`
    case 'money_came_back':
      return `The provider gave back money of payment ${paymentId} (${suspenseId}). The client's next settlement is ${amountMinor} IDR more. No action is needed; get-payment shows the movement.`
    case 'disputed_amount_unknown':
      return `A dispute of payment ${paymentId} took ${amountMinor} IDR including an unknown fee. Find the disputed amount in the provider's dashboard, book it with adjust-ledger, then ${close}.`
    case 'too_many_movements':
      return `Payment ${paymentId} has 50 movements, the maximum; a further row of ${amountMinor} IDR is not applied. Check the row, then ${close}.`
    case 'reversed_upstream':
      return `A reversal or dispute of ${amountMinor} IDR concerns money that the gateway credited to no client (payment ${paymentId}). Ask the provider about it, then ${close}.`
    case 'channel_not_activated':
      return `The provider refuses payments of a channel that is not activated for our account (${suspenseId}). Activate the channel in the provider's dashboard, then ${close}.`
    case 'state_unknown':
      return `The provider names a state of payment ${paymentId} that no document names, so the gateway changes nothing (${suspenseId}). Look at the payment in the provider's dashboard and ask the provider what the state means, then ${close}.`
    case 'dispute_unknown':
      return `The provider told of a dispute that names no payment of this gateway (${suspenseId}). Look at the disputes in the provider's dashboard, then ${close}.`
    case 'went_back_twice':
      return `More went back of payment ${paymentId} than its customer paid, by refund and dispute, so the house bears ${amountMinor} IDR (${suspenseId}). A dispute can be answered with the refund: list-suspense --kind case --payment_id ${paymentId} shows until when. Then ${close}.`
    case 'event_gone':
      return `The event ${suspenseId} of payment ${paymentId} is missing in the table, so its delivery was skipped. Inform the merchant, then ${close}.`
    default:
      return `The books cannot explain ${suspenseId} (${cause}, payment ${paymentId}). Check it, then ${close}.`
  }
}

function messageOfCase(item: Suspense): string {
  const { cause, suspenseId, amountMinor, paymentId = 'unknown', state, answerBy } = item
  const close = `resolve-suspense --suspense_id ${suspenseId}`
  const amount = amountMinor === undefined ? 'an unknown amount' : `${amountMinor} IDR`
  if (cause === 'transfer') {
    return `${amount} left the provider's account by a transfer that names payment ${paymentId} (${suspenseId}); the house bears it until it is booked. If it refunds a payment that the merchant was credited with, run refund-payment --payment_id ${paymentId} --amount_minor ${amountMinor} --provider_transaction_id ${suspenseId.replace(/#transfer$/, '')}. If it gives back held money, list-suspense --payment_id ${paymentId} shows it. Otherwise run ${close} --resolution explained.`
  }
  if (state === 'won')
    return `The dispute ${suspenseId} of payment ${paymentId} (${amount}) is won. What its chargeback took comes back by a row of the provider. No action is needed.`
  if (state === 'lost')
    return `The dispute ${suspenseId} of payment ${paymentId} (${amount}) is lost. Its chargeback's row takes the money; get-payment shows what the merchant gives back, and get-books what the house bears.`
  const back = item.refundedMinor
    ? ` ${item.refundedMinor} IDR of the payment went back before: answer with that refund.`
    : ''
  return `A customer disputes ${amount} of payment ${paymentId} (${suspenseId}).${back} Answer in the provider's dashboard until ${answerBy}; without an answer it is lost. Then run ${close} --resolution answered, or --resolution accepted.`
}

/** Recorded once, because its id is the provider's payment id. */
export function heldMoney({
  capture: { providerPaymentId, capturedMinor: amountMinor },
  ...about
}: Origin<MoneyCause> & {
  readonly capture: { readonly providerPaymentId: string; readonly capturedMinor: Minor }
}): Suspense {
  return {
    ...openItem(about),
    suspenseId: providerPaymentId,
    kind: 'money',
    amountMinor,
    providerPaymentId,
  }
}

function openItem({ cause, payment, now: createdAt }: Origin<string>) {
  return {
    cause,
    paymentId: payment?.paymentId,
    // The row of a foreign payment names a wrong client.
    clientId: cause === 'payment_foreign' ? undefined : payment?.clientId,
    status: 'open',
    createdAt,
  } as const
}

/** An inconsistency without held money, recorded once for each subject and cause. */
export function finding({
  subject,
  ...about
}: Origin<FindingCause> & { readonly subject: string }): Suspense {
  return { ...openItem(about), suspenseId: `${subject}#${about.cause}`, kind: 'finding' }
}

export function findingOfRow(
  payment: NamedPayment,
  row: MoneyRow,
  cause: FindingCause,
  now: Timestamp,
): Suspense {
  return {
    ...finding({ subject: `${row.transactionId}#${row.type}`, cause, payment, now }),
    amountMinor: row.amountMinor,
  }
}

/** The finding of a reversal or dispute row, with the client's loss or gain. */
export function movedMoney(
  payment: NamedPayment,
  row: MoneyRow,
  netMinor: Minor,
  now: Timestamp,
): Suspense {
  return {
    ...findingOfRow(payment, row, netMinor > 0 ? 'money_came_back' : 'money_went_back', now),
    amountMinor: minor(Math.abs(netMinor)),
    status: 'resolved',
    resolution: 'explained',
  }
}

/** Money went out for a payment by a transfer, which only an operator can explain. */
export function transferCase(
  payment: NamedPayment,
  { transactionId, amountMinor }: Pick<MoneyRow, 'transactionId' | 'amountMinor'>,
  now: Timestamp,
): Suspense {
  return {
    ...openItem({ cause: 'transfer', payment, now }),
    suspenseId: caseIdOfTransfer(transactionId),
    kind: 'case',
    amountMinor,
  }
}

export function caseIdOfTransfer(transactionId: string): string {
  return `${transactionId}#transfer`
}

/** Answers whether the alert was published. */
export async function checkSuspenseAlert(
  deps: SuspenseDeps,
  due: { readonly suspenseId: string; readonly dueAt: Timestamp },
): Promise<boolean> {
  // The claim comes first, so that a failing alert does not block later alerts.
  const item = await claimSuspenseAlert(deps, due)
  if (item === undefined) return false
  if (!isLapsed(item, deps.now())) return publishSuspenseAlert(deps, item)
  await deps.table.write(closeSuspense(item, { status: 'resolved', resolution: 'lapsed' }))
  return true
}
