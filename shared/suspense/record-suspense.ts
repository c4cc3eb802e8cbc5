import type { Deps, TableDeps } from '../deps.ts'
import type { MoneyRow } from '../journal/payment-money.ts'
import { type Minor, minor } from '../money.ts'
import type { Timestamp } from '../time.ts'
import { alertMessage, disputesBefore, isDeduction } from './alert-message.ts'
import { isLapsed, nextAlertAt, reminderWords, usualAnswerBy } from './dispute.ts'
import type { FindingCause, MoneyCause, Suspense } from './suspense.ts'
import {
  claimSuspenseAlert,
  closeSuspense,
  type DueItem,
  findSuspense,
  setNextAlert,
  writeSuspense,
} from './suspense-store.ts'

export type SuspenseDeps = Pick<Deps, 'table' | 'alerts' | 'log' | 'now'>

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

/**
 * Reports an item that was written just now. A deduction of disputes is told by due work, which may
 * list their cases.
 */
export async function reportSuspense(deps: SuspenseDeps, item: Suspense): Promise<void> {
  logSuspense(deps, item)
  if (isDeduction(item)) return
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
export async function publishSuspenseAlert(
  deps: SuspenseDeps,
  item: DueItem,
  dueWords?: string,
): Promise<boolean> {
  try {
    await deps.alerts.publish({
      kind: `suspense.${item.kind}`,
      subject: item.suspenseId,
      message: await alertMessage(deps, item, dueWords),
    })
  } catch (cause) {
    deps.log.error('alert.failed', { suspense_id: item.suspenseId }, cause)
    return false
  }
  await setNextAlert(deps, item, nextAlertAt(item, deps.now()))
  deps.log.info('alert.published', { suspense_id: item.suspenseId })
  return true
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

type Finding = Origin<FindingCause> & { readonly subject: string }

/** Records a finding of now, and tells the operators. Safe to repeat. */
export function recordFinding(deps: SuspenseDeps, about: Omit<Finding, 'now'>): Promise<void> {
  return recordSuspense(deps, finding({ ...about, now: deps.now() }))
}

/** An inconsistency without held money, recorded once for each subject and cause. */
export function finding({ subject, ...about }: Finding): Suspense {
  return { ...openItem(about), suspenseId: `${subject}#${about.cause}`, kind: 'finding' }
}

export function findingOfMovement(
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

/**
 * The finding of every movement, with the client's loss or gain. If the row changes nothing for the
 * client, the provider's side says which way the money went.
 */
export function findingOfMovedMoney(
  payment: NamedPayment,
  row: MoneyRow,
  netMinor: Minor,
  now: Timestamp,
): Suspense {
  const isBack = (netMinor === 0 ? row.providerMinor : netMinor) > 0
  return {
    ...findingOfMovement(payment, row, isBack ? 'money_came_back' : 'money_went_back', now),
    amountMinor: minor(Math.abs(netMinor)),
    // The provider books a chargeback when the dispute is raised, and its callback may be lost.
    answerBy: row.type === 'chargeback' ? usualAnswerBy(row.createdAt ?? row.at) : undefined,
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

function caseIdOfTransfer(transactionId: string) {
  return `${transactionId}#transfer`
}

/** The case that the row's transfer opened, unless it has ended. */
export async function findOpenTransfer(
  deps: TableDeps,
  transactionId: string,
): Promise<Suspense | undefined> {
  const item = await findSuspense(deps, caseIdOfTransfer(transactionId))
  return item?.status === 'open' ? item : undefined
}

/** Answers whether the item was told, or closed as lapsed. */
export async function checkSuspenseAlert(
  deps: SuspenseDeps,
  due: { readonly suspenseId: string; readonly dueAt: Timestamp },
): Promise<boolean> {
  // The claim comes first, so that a failing alert does not block later alerts.
  const item = await claimSuspenseAlert(deps, due)
  if (item === undefined) return false
  const now = deps.now()
  const dueWords = isDeduction(item) ? await disputesBefore(deps, item) : reminderWords(item, now)
  if (!isLapsed(item, now)) return publishSuspenseAlert(deps, item, dueWords)
  const lapsed = { status: 'resolved', resolution: 'lapsed' } as const
  return (await deps.table.write(closeSuspense(item, lapsed))).applied
}
