import { DAY_MS } from '../../../shared/time.ts'
import { anOpenPayment } from '../../support/paid-builders.ts'
import { clientTest } from '../settlement/client-test.ts'

/**
 * `overdue`: a payment that has been open for seven days, so the sweep asks the provider about it.
 */
export const it = clientTest.extend('overdue', async ({ deps, client }) => {
  const payment = await anOpenPayment(deps, client)
  deps.clock.pass(7 * DAY_MS)
  return payment
})
