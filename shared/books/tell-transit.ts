import type { Deps, StoreDeps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { listOpenSuspense } from '../suspense/list-suspense.ts'
import { addMs, DAY_MS } from '../time.ts'

const TOO_LONG_MS = 30 * DAY_MS
const MAX_NAMED = 20
/** The causes of findings about payments that were posted without their own row. */
const WITHOUT_ROW = ['fee_assumed', 'transaction_missing']

/**
 * Names the payments whose money has been in transit for more than 30 days (design section 12):
 * they were posted without their own row, which has not come since. An explained finding is not
 * named again.
 */
export async function tellTransit(deps: StoreDeps & Pick<Deps, 'alerts' | 'log'>): Promise<void> {
  const since = addMs(deps.now(), -TOO_LONG_MS)
  const ids = (await listOpenSuspense(deps)).flatMap(({ cause, paymentId, createdAt }) =>
    WITHOUT_ROW.includes(cause) && createdAt < since
      ? (ifValid(PaymentIdSchema, paymentId) ?? [])
      : [],
  )
  const payments = await findPaymentsByKey(deps, ids)
  const waiting = payments.filter(
    ({ openAt, ownRow, isVoid }) => openAt === undefined && !ownRow && isVoid !== true,
  )
  const named = waiting.slice(0, MAX_NAMED).map(({ paymentId }) => paymentId)
  if (named.length === 0) return
  const message = `The provider's own rows of these payments have not come for more than 30 days, so their money is still in transit (${waiting.length} in all): ${named.join(', ')}. Ask the provider about them, then explain their findings with resolve-suspense.`
  await deps.alerts.publish({ kind: 'payment.in_transit', subject: 'provider', message })
}
