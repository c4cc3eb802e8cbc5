import { GatewayError } from '../errors.ts'
import { bookDay } from '../journal/day-totals.ts'
import { recordFinding, type SuspenseDeps } from '../suspense/record-suspense.ts'
import type { Unsound } from './statement-totals.ts'

/**
 * Throws 500, after a finding with its alert, at most one a day for a client. Due work repeats an
 * alert that fails, and a second request finds the finding.
 */
export async function refuseStatement(
  deps: SuspenseDeps,
  { clientId, day }: Unsound,
): Promise<never> {
  const subject = `${clientId}#${bookDay(deps.now())}`
  const payment = { paymentId: undefined, clientId }
  await recordFinding(deps, { subject, cause: 'statement_differs', payment })
  throw new GatewayError(
    'internal_error',
    `the statement up to ${day} does not add up, so it is not shown; the operators were told`,
    { actionHint: 'Ask support about it, with the request id. Earlier days may be complete.' },
  )
}
