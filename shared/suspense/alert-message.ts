import type { TableDeps } from '../deps.ts'
import { ZERO } from '../money.ts'
import { shellQuoted } from '../text-field.ts'
import { addMs, DAY_MS, type Timestamp } from '../time.ts'
import { type WentBack, wentBackOf } from './dispute-movements.ts'
import { listSuspenseAbout } from './list-suspense.ts'
import { refundAdvice } from './refund-advice.ts'
import type { Suspense } from './suspense.ts'

/**
 * What operators are told of an item: what happened, what it cost, until when it can be answered,
 * and the command. It names ids and amounts, never a customer.
 */
export async function alertMessage(
  deps: TableDeps,
  item: Suspense,
  dueWords: string | undefined,
): Promise<string> {
  const wentBack = await wentBackOf(deps, item)
  const refund = item.kind === 'money' ? await refundAdvice(deps, item) : ''
  return messageOf(item, { wentBack, dueWords, refund })
}

type Facts = {
  readonly wentBack: WentBack | undefined
  /** What due work adds: the disputes of a deduction, or which reminder this is. */
  readonly dueWords: string | undefined
  readonly refund: string
}

/** A row that takes money without naming a payment may be the deduction of a month's disputes. */
export function isDeduction({ cause, paymentId }: Suspense): boolean {
  return cause === 'reversed_upstream' && paymentId === undefined
}

/** The provider deducts lost disputes of some channels once a month. */
const DEDUCTED_MS = 62 * DAY_MS
const NAMED = 20

/** The disputes that the row may have deducted, in words. */
export async function disputesBefore(deps: TableDeps, { createdAt }: Suspense): Promise<string> {
  const since = addMs(createdAt, -DEDUCTED_MS)
  const { items, complete } = await listSuspenseAbout(deps, { kind: 'case', since })
  const disputes = items.filter(({ cause, state }) => cause === 'dispute' && state !== 'won')
  const unread = complete ? '' : ' Not all cases were read: run list-suspense --kind case.'
  if (disputes.length === 0) return ` No dispute is known of the two months before.${unread}`
  const named = disputes
    .slice(0, NAMED)
    .map(({ suspenseId, paymentId, amountMinor }) => `${suspenseId} (${paymentId}, ${amountMinor})`)
  const more = disputes.length > NAMED ? ` and ${disputes.length - NAMED} more` : ''
  return ` It may be the deduction of these disputes (payment, IDR): ${named.join(', ')}${more}.${unread}`
}

function messageOf(item: Suspense, facts: Facts) {
  const { kind, cause, suspenseId, amountMinor = ZERO, paymentId = 'unknown', clientId } = item
  const close = `run ${resolveCommand(item)} --resolution ${kind === 'money' ? 'written_off' : 'explained'}`
  const unit = cause === 'wrong_currency' ? 'of another currency' : 'IDR'
  const isChanged = cause === 'payment_foreign'
  const todo = isChanged ? 'Its row was changed: call the owner of the code' : 'No action is needed'
  // The alert may come late.
  if (kind === 'money' && item.status === 'resolved')
    return `The provider received ${amountMinor} ${unit} that the gateway held (${cause}, payment ${paymentId}). The item is resolved as ${item.resolution} (${suspenseId}), so give nothing back. ${todo}.`
  if (isChanged) {
    const what = kind === 'money' ? `${amountMinor} IDR of it are held` : 'it is not posted'
    return `Payment ${paymentId} is stored under a client that its id does not belong to, so ${what} (${suspenseId}). Its row was changed. Follow the runbook, suspense, then ${close}.`
  }
  if (kind === 'case') return messageOfCase(item, facts)
  const back =
    item.refundedMinor === undefined
      ? ''
      : ` The provider has refunded ${item.refundedMinor} IDR of this money; a refund that became void does not count.`
  if (kind === 'money')
    return `The provider received ${amountMinor} ${unit} that the gateway credits to no client (${cause}, payment ${paymentId}).${back} ${facts.refund} To write it off ${close}. Before our bank pays it, run it with --resolution refunded_by_bank.`
  switch (cause) {
    case 'money_went_back':
      if (item.answerBy !== undefined) return messageOfChargeback(item, item.answerBy)
      return `${suspenseId.startsWith('bank:') ? 'Our bank refunded' : 'The provider took back'} money of payment ${paymentId} (${suspenseId}). The client's next settlement is ${amountMinor} IDR less. ${amountMinor > 0 ? 'No action is needed; get' : 'The house bears it: get'}-payment shows the movement.`
    case 'money_came_back':
      return `The provider gave back money of payment ${paymentId} (${suspenseId}). The client's next settlement is ${amountMinor} IDR more. ${amountMinor > 0 ? 'No action is needed; get' : 'The house keeps it: get'}-payment shows the movement.`
    case 'disputed_amount_unknown':
      return `A dispute of payment ${paymentId} took ${amountMinor} IDR including an unknown fee. Find the disputed amount in the provider's dashboard, book it with adjust-ledger, then ${close}.`
    case 'too_many_movements':
      return `Payment ${paymentId} has 50 movements, the maximum; a further row of ${amountMinor} IDR is not applied. Check the row, then ${close}.`
    case 'reversed_upstream':
      return `A reversal or dispute of ${amountMinor} IDR concerns money that the gateway credited to no client (payment ${paymentId}).${facts.dueWords ?? ''} Ask the provider about it, then ${close}.`
    case 'channel_not_activated':
      return `The provider refuses payments of a channel that is not activated for our account (${suspenseId}). Activate the channel in the provider's dashboard, then ${close}.`
    case 'state_unknown':
      return `The provider shows payment ${paymentId} in a state that no document names, or refuses to cancel it and shows neither its end nor its money, so the gateway changes nothing (${suspenseId}). Look at the payment in the provider's dashboard and ask the provider, then ${close}.`
    case 'dispute_unknown':
      return `The provider told of a dispute that names no payment of this gateway (${suspenseId}). Look at the disputes in the provider's dashboard, then ${close}.`
    case 'went_back_twice':
      return `More went back of ${moneyOf(item)} than its customer paid, by refund, dispute or void, so the house bears ${amountMinor} IDR (${suspenseId}). A dispute can be answered with the refund: list-suspense --kind case${item.paymentId === undefined ? '' : ` --payment_id ${paymentId}`} shows until when. Then ${close}.`
    case 'event_gone':
      return `The event ${suspenseId} of payment ${paymentId} is missing in the table, so its delivery was skipped. Inform the merchant, then ${close}.`
    case 'statement_differs':
      return `A statement of client ${clientId} was refused: its lines in the journal and the stored totals of its settlements are not equal (${suspenseId}). The client cannot read statements of these days. Run audit-ledger --client_id ${clientId}, which names the difference, and repair it with recount-ledger. Then ${close}.`
    default:
      return messageOfUnexplained(item, close)
  }
}

/** For a shell: some ids have spaces. */
function resolveCommand({ suspenseId }: Suspense) {
  return `resolve-suspense --suspense_id ${shellQuoted(suspenseId)}`
}

/** The id of a payout whose row became void names its settlement. */
const UNDONE_PAYOUT = /^(.+)#([0-9a-f-]{36})#transaction_unexplained$/

function messageOfUnexplained(item: Suspense, close: string) {
  const { cause, suspenseId, amountMinor, paymentId = 'unknown' } = item
  const [, transactionId, settlementId] = UNDONE_PAYOUT.exec(suspenseId) ?? []
  if (settlementId === undefined)
    return `The books cannot explain ${suspenseId} (${cause}, payment ${paymentId}${amountMinor === undefined ? '' : `, ${amountMinor} IDR`}). The runbook, suspense, says for ${cause} what to do. Then ${close}.`
  return `The provider's transfer ${transactionId} of ${amountMinor} IDR for settlement ${settlementId} failed or came back after the books had it, so the merchant lacks this money (${suspenseId}). If the settlement is marked paid by this transfer, run return-payout --settlement_id ${settlementId} --bank_reference ${transactionId}: the next settlement pays it again. If it is recorded, do not mark it paid by this transfer. Then ${close}.`
}

/** The dispute's callback opens its case. If it is lost, only this message tells of the dispute. */
function messageOfChargeback(item: Suspense, answerBy: Timestamp) {
  const { suspenseId, amountMinor = ZERO, paymentId } = item
  const lost =
    amountMinor > 0
      ? `The client's next settlement is ${amountMinor} IDR less`
      : 'The house bears the loss'
  return `A customer disputes payment ${paymentId}, and the provider took back its money (${suspenseId}). ${lost}; get-payment shows the movement. A dispute that has not ended can be answered in the provider's dashboard: list-suspense --kind case --payment_id ${paymentId} shows until when. If it shows no dispute, the provider's callback was lost: answer until ${answerBy}. Without an answer the dispute is lost.`
}

/** A finding about held money names its capture. */
function moneyOf({ paymentId = 'unknown', providerPaymentId }: Suspense) {
  return providerPaymentId === undefined
    ? `payment ${paymentId}`
    : `the held money ${providerPaymentId} (payment ${paymentId})`
}

function messageOfCase(item: Suspense, { wentBack, dueWords = '' }: Facts) {
  const { cause, suspenseId, amountMinor, paymentId = 'unknown', state, answerBy } = item
  const close = resolveCommand(item)
  const amount = amountMinor === undefined ? 'an unknown amount' : `${amountMinor} IDR`
  if (cause === 'transfer') {
    return `${amount} left the provider's account by a transfer that names payment ${paymentId} (${suspenseId}); the house bears it until it is booked. If it refunds a payment that the merchant was credited with, run refund-payment --payment_id ${paymentId} --amount_minor ${amountMinor} --provider_transaction_id ${suspenseId.replace(/#transfer$/, '')}. If it gives back held money (list-suspense --payment_id ${paymentId} shows it), give nothing back again: resolve that money as written_off. Then, or if it is neither, run ${close} --resolution explained.`
  }
  const dispute = `The dispute ${suspenseId} of payment ${paymentId} (${amount})`
  if (state === 'won')
    return `${dispute} is won. What its chargeback took comes back by a row of the provider. No action is needed.`
  if (state === 'lost')
    return `${dispute} is lost. Its chargeback's row takes the money; get-payment shows what the merchant gives back, and get-books what the house bears.`
  if (state === 'under_review')
    return `${dispute} is under review. No action is needed now: an alert tells its end.`
  const { refundedMinor = ZERO, chargebacks = [] } = wentBack ?? {}
  const back =
    refundedMinor > 0
      ? ` ${refundedMinor} IDR of the payment went back before: answer with that refund.`
      : ''
  const taken = chargebacks.map(
    ({ amountMinor: takenMinor, transactionId }) =>
      ` The row ${transactionId} has taken ${takenMinor} IDR for it.`,
  )
  return `${dueWords}A customer disputes ${amount} of payment ${paymentId} (${suspenseId}).${back}${taken.join('')} Answer in the provider's dashboard until ${answerBy}; without an answer it is lost. Then run ${close} --resolution answered, or --resolution accepted.`
}
