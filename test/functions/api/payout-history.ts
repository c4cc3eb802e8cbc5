import type { ApiClient } from '../../support/api-event.ts'
import { bookRefund } from '../../support/money-rows.ts'
import { anOpenPayment, aSucceededPayment, post } from '../../support/paid-builders.ts'
import {
  aDayLater,
  bringBack,
  fail,
  payOut,
  recredit,
  sweptADayLater,
} from '../../support/settlement-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/**
 * Everything that a settlement can become, each state on a day of its own. Yields after each step,
 * with what the step was.
 */
export async function* payoutHistory(deps: TestDeps, caller: ApiClient) {
  await aSucceededPayment(deps, caller, { externalReference: 'order-1' })
  yield 'a posted payment'
  const open = await anOpenPayment(deps, caller, { notionalMinor: 50_000 })
  yield 'an open payment'
  await bookRefund(deps, open, 20_000)
  yield 'a refund of an open payment'
  const first = await sweptADayLater(deps, caller)
  yield 'a settlement'
  await fail(deps, first)
  yield 'a failed settlement'
  aDayLater(deps)
  await recredit(deps, first)
  yield 'a re-credit'
  const second = await sweptADayLater(deps, caller)
  yield 'a settlement of the re-credit'
  await payOut(deps, second)
  yield 'a payout'
  aDayLater(deps)
  await bringBack(deps, second, second.settlementId.toUpperCase())
  yield 'a returned payout'
  const refunded = await aSucceededPayment(deps, caller, { notionalMinor: 80_000 })
  await bookRefund(deps, refunded, 30_000)
  yield 'a refund of a posted payment'
  await payOut(deps, await sweptADayLater(deps, caller))
  yield 'a payout of the returned money'
  await post(deps, await paymentOf(deps, { payment: open }))
  yield 'the open payment is posted'
}
