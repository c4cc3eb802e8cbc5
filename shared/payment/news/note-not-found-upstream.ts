import type { Deps } from '../../deps.ts'
import { finding, recordSuspense } from '../../suspense/record-suspense.ts'
import type { Payment } from '../payment.ts'

/** The provider does not know our request. A wrong or rotated key looks the same, so an operator must check. */
export const noteNotFoundUpstream = (
  deps: Pick<Deps, 'table' | 'now' | 'log' | 'alerts'>,
  payment: Payment,
): Promise<void> =>
  recordSuspense(deps, finding({ subject: payment.paymentId, cause: 'not_found_upstream', payment, now: deps.now() }))
