import type { Deps } from '../deps.ts'
import type { StoredPayment } from '../payment/payment.ts'
import { askForRows } from '../posting/ask-for-rows.ts'
import { providerFailure } from '../provider/provider.ts'
import { readHourAgain } from './tail.ts'

/**
 * Has the sync read the own rows of a payment that was posted without one, however late they have
 * come (design section 12). The sync books only what the provider tells it: this function may not
 * pass it a row. Safe to repeat. Throws 502 without an answer.
 */
export async function handOverOwnRow(
  deps: Pick<Deps, 'table' | 'now' | 'provider'>,
  payment: StoredPayment,
): Promise<void> {
  if (payment.status !== 'succeeded' || payment.ownRow || payment.isVoid) return
  // Until a payment is posted, sync and sweep ask for its row.
  if (payment.openAt !== undefined) return
  const { capture, paymentId } = payment
  // Without an id the provider lists every payment.
  if (!capture?.providerPaymentId) return
  const answer = await askForRows(deps, capture.providerPaymentId, paymentId)
  if (answer.kind === 'unanswered')
    throw providerFailure(answer, 'the payment is refreshed, its row is not')
  for (const row of answer.rows) await readHourAgain(deps, row)
}
