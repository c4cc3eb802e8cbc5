import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'

/** Why a line is refused or left out. Of an unexpected failure the log has the cause. */
export function refusalOf(
  { log }: Pick<Deps, 'log'>,
  settlementId: string | undefined,
  error: unknown,
): GatewayError {
  if (error instanceof GatewayError) return error
  log.error('payout.line_failed', { settlement_id: settlementId }, error)
  return new GatewayError('internal_error', 'the line failed; the log has the cause', {
    actionHint:
      'Repeat the same call. If it fails again, audit-ledger --client_id … names a row that ' +
      'cannot be read.',
  })
}
