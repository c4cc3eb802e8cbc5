import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import {
  type CloseDeps,
  type CloseInput,
  closeSettlement,
  wrongStateError,
} from '../settlement/close-settlement.ts'
import { findAnySettlement } from '../settlement/settlement-store.ts'
import { firstUseOf, liveBatchOfAnswer } from './live-batch-of-answer.ts'

/** Another answer of the same batch, or its cancellation, may refuse a try. */
const MAX_TRIES = 3

/**
 * Marks a settlement failed, once, as the bank answered. The answer proves that the bank has the
 * file, so the same transaction marks a live batch as used: its other payouts may be paid.
 */
export async function markFailedByAnswer(
  deps: CloseDeps & Pick<Deps, 'alerts' | 'queues'>,
  input: CloseInput & { readonly notes: string; readonly fileOf: number | undefined },
): Promise<void> {
  const { settlementId, operator, notes, fileOf } = input
  const answered = { operator, outcome: 'failed' } as const
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const before = await findAnySettlement(deps, settlementId)
    if (before.status !== 'recorded') throw wrongStateError('marked failed', before)
    const live = await liveBatchOfAnswer(deps, before, { fileOf, ...answered })
    const { step, registration } = firstUseOf(live, deps.now(), answered)
    const after = { ...before, status: 'failed', notes } as const
    const action = { operator, action: 'mark-settlement-failed' }
    const change = { before, after, action, registration }
    if ((await closeSettlement(deps, change, { batch: step })).applied) return
  }
  throw new GatewayError('conflict', 'this settlement was just changed; try again')
}
