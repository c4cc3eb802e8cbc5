import { mapInChunks } from '../chunks.ts'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { minor } from '../money.ts'
import { useOf } from '../operator/approval-store.ts'
import { recordChange } from '../operator/audit-record-store.ts'
import {
  type Batch,
  batchSubject,
  digestOfLines,
  type PayoutLine,
  payoutLines,
} from '../settlement/batch/batch.ts'
import { findBatch, markReady, settlementsIn } from '../settlement/batch/batch-store.ts'
import type { CloseDeps } from '../settlement/close-settlement.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { claimForBatch, findAnySettlement } from '../settlement/settlement-store.ts'
import { alertGrowth } from './alert-growth.ts'
import {
  type JudgeDeps,
  judgePayout,
  type LeftOut,
  leaveOut,
  leaveOutFailed,
  type Payout,
  SIDE_BY_SIDE,
} from './judge-payouts.ts'

export type BatchDeps = CloseDeps & JudgeDeps & Pick<Deps, 'alerts'>

/**
 * Claims the settlements of an open batch, and makes it ready with those that it has. Two callers
 * may fill one batch: each claim has a condition, and only one of them makes it ready.
 */
export async function fillBatch(
  deps: BatchDeps,
  batch: Batch,
  { payouts, operator }: { readonly payouts?: readonly Payout[]; readonly operator: string },
) {
  const { number } = batch
  const toClaim =
    payouts ??
    (await mapInChunks(await unclaimed(deps, batch), SIDE_BY_SIDE, (one) => judgePayout(deps, one)))
  const results = await mapInChunks(toClaim, SIDE_BY_SIDE, async (payout) => {
    if ('reason' in payout) return payout
    try {
      return await claim(deps, payout, { number, operator })
    } catch (error) {
      return leaveOutFailed(deps, payout.settlement, error)
    }
  })
  const finished = await finishBatch(deps, batch, operator)
  const settlementIds: readonly string[] = finished.batch.settlementIds
  // Another operator may have claimed a settlement for the batch, or made the batch ready.
  const leftOut = results.flatMap((one) =>
    one && !settlementIds.includes(one.settlement_id) ? one : [],
  )
  const late = toClaim.flatMap((payout, at) =>
    'reason' in payout || results[at] || settlementIds.includes(payout.settlement.settlementId)
      ? []
      : leaveOut(payout.settlement, CLAIMED_LATE),
  )
  return { ...finished, leftOut: [...leftOut, ...late] }
}

async function unclaimed(deps: BatchDeps, batch: Batch) {
  return (await settlementsIn(deps, batch)).filter((one) => one.batch !== batch.number)
}

const CLAIMED_LATE = new GatewayError('conflict', 'the batch was made ready without it', {
  actionHint: 'payout-file puts it into the next batch.',
})

/** An audit that ends, or a settlement that changes, refuses a try. */
const MAX_TRIES = 3

/** Answers why the settlement is left out; undefined when the batch has it. */
async function claim(
  deps: BatchDeps,
  judged: Payout,
  { number, operator }: { readonly number: number; readonly operator: string },
): Promise<LeftOut | undefined> {
  let payout: Payout | LeftOut = judged
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    if ('reason' in payout) return payout
    const { settlement: before, conditions, figures, approval: found } = payout
    const approval = found && useOf(deps, found)
    const record = {
      subject: before.settlementId,
      clientId: before.clientId,
      operator,
      action: 'payout-file',
      before: { batch: before.batch ?? null },
      after: { batch: number, figures, ...(approval && { approved: approval.shown }) },
    }
    const steps = {
      ...conditions,
      settlement: claimForBatch(before, number),
      approval: approval?.step,
    }
    if ((await recordChange(deps, record, steps)).applied) {
      await alertGrowth(deps, before, { approved: approval?.figures, batch: number })
      return undefined
    }
    const stored = await findAnySettlement(deps, before.settlementId)
    if (stored.batch === number) return undefined
    payout = await judgePayout(deps, stored)
  }
  return 'reason' in payout
    ? payout
    : leaveOut(payout.settlement, new GatewayError('conflict', 'it kept changing; try again'))
}

async function finishBatch(deps: BatchDeps, opened: Batch, operator: string) {
  const { number } = opened
  const claimed = (await settlementsIn(deps, opened)).filter(
    ({ batch, status }) => batch === number && status === 'recorded',
  )
  const lines = payoutLines(claimed)
  const ready: Batch = {
    ...opened,
    state: 'ready',
    settlementIds: claimed.map(({ settlementId }) => settlementId),
    totalMinor: minor(claimed.reduce((sum, { netMinor }) => sum + netMinor, 0)),
    digest: digestOfLines(lines),
  }
  const record = {
    subject: batchSubject(number),
    clientId: undefined,
    operator,
    action: 'payout-file',
    after: {
      state: ready.state,
      count: lines.length,
      total_minor: ready.totalMinor,
      digest: ready.digest,
    },
  }
  if ((await recordChange(deps, record, { batch: markReady(ready) })).applied)
    return { batch: ready, lines }
  // Another caller finished the batch, or an operator cancelled the batch.
  const stored = await findBatch(deps, number)
  if (stored?.state !== 'ready')
    throw new GatewayError('conflict', `batch ${number} was cancelled meanwhile`)
  return { batch: stored, lines: linesOf(stored, await settlementsIn(deps, stored)) }
}

/** Throws 409 unless the lines of a ready batch are what they were. */
export function linesOf(
  { number, digest }: Batch,
  settlements: readonly Settlement[],
): readonly PayoutLine[] {
  const lines = payoutLines(settlements)
  if (digestOfLines(lines) === digest) return lines
  throw new GatewayError('conflict', `the lines of batch ${number} are not what they were`, {
    actionHint: 'Send no file of this batch. Run audit-ledger: its answer lists what differs.',
  })
}
