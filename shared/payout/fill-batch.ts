import { readTrail } from '../audit/judged/audit-trails.ts'
import { mapInChunks } from '../chunks.ts'
import type { Deps } from '../deps.ts'
import { conflict } from '../errors.ts'
import { useOf } from '../operator/approval-store.ts'
import { type AuditHead, recordChange } from '../operator/audit-record-store.ts'
import {
  BATCHES_SUBJECT,
  type Batch,
  batchRecord,
  batchSubject,
  digestOf,
  digestOfLines,
  MOST_LINES,
  type PayoutLine,
  payoutLines,
} from '../settlement/batch/batch.ts'
import {
  findBatch,
  openBatch,
  setList,
  settlementsIn,
  stateIn,
} from '../settlement/batch/batch-store.ts'
import type { CloseDeps } from '../settlement/close-settlement.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { claimForBatch, findAnySettlement } from '../settlement/settlement-store.ts'
import { compare, confirmedDifferences } from '../verdict/difference.ts'
import { alertGrowth } from './alert-growth.ts'
import {
  judgePayout,
  type LeftOut,
  leaveOut,
  leaveOutFailed,
  type Payout,
  requireStillPayable,
  SIDE_BY_SIDE,
} from './judge-payouts.ts'
import { type GateDeps, requireMatchingBooks } from './payout-gate.ts'

export type BatchDeps = CloseDeps & GateDeps & Pick<Deps, 'alerts'>

/**
 * Claims the settlements of an open batch, and makes it ready with those that may still be paid:
 * the next batch may take the others. What an earlier call has claimed is compared with its entries
 * again. Two callers may fill one batch: each claim has a condition, and only one of them makes it
 * ready.
 */
export async function fillBatch(
  deps: BatchDeps,
  batch: Batch,
  { payouts, operator }: { readonly payouts?: readonly Payout[]; readonly operator: string },
) {
  const { number } = batch
  const earlier = payouts ? [] : await settlementsIn(deps, batch)
  const claimed = earlier.filter(isIn(number))
  const unclaimed = earlier.filter((one) => one.batch !== number)
  const changed = await refusedAmong(deps, claimed, requireMatchingBooks)
  const listed = new Set(batch.settlementIds)
  const toClaim =
    payouts ?? (await mapInChunks(unclaimed, SIDE_BY_SIDE, (one) => judgePayout(deps, one)))
  const results = await mapInChunks(toClaim, SIDE_BY_SIDE, async (payout) => {
    if ('reason' in payout) return payout
    // The limit of a batch cut it off: its approval is for the next batch.
    if (!listed.has(payout.settlement.settlementId)) return undefined
    try {
      return await claim(deps, payout, { number, operator })
    } catch (error) {
      return leaveOutFailed(deps, payout.settlement, error)
    }
  })
  const payable = toClaim.flatMap((payout) => ('reason' in payout ? [] : payout.settlement))
  const judged = [...claimed, ...payable]
  const { refused, ...finished } = await finishBatch(deps, batch, { operator, changed, judged })
  const late = payable.map((one) => leaveOut(one, CLAIMED_LATE))
  // Another operator may have claimed a settlement for the batch, or made the batch ready.
  const named = new Set<string>(finished.batch.settlementIds)
  const leftOut = [...changed, ...results, ...refused, ...late].flatMap((one) => {
    if (one === undefined || named.has(one.settlement_id)) return []
    named.add(one.settlement_id)
    return one
  })
  return { ...finished, leftOut }
}

function isIn(number: number) {
  return ({ batch, status }: Settlement) => batch === number && status === 'recorded'
}

/** A settlement that its batch leaves out may enter the next batch. */
async function refusedAmong(
  deps: BatchDeps,
  settlements: readonly Settlement[],
  requirement: (deps: BatchDeps, settlement: Settlement) => Promise<void>,
) {
  const refused = await mapInChunks(settlements, SIDE_BY_SIDE, async (settlement) => {
    try {
      await requirement(deps, settlement)
      return []
    } catch (error) {
      return [leaveOutFailed(deps, settlement, error)]
    }
  })
  return refused.flat()
}

const CLAIMED_LATE = conflict(
  'the batch was made ready without it',
  'payout-file puts it into the next batch.',
)

/** An audit that ends, or a settlement that changes, refuses a try. */
const MAX_TRIES = 3

/** Answers why the settlement is left out; undefined when the batch has it. */
async function claim(
  deps: BatchDeps,
  judged: Payout,
  { number, operator }: { readonly number: number; readonly operator: string },
) {
  let payout: Payout | LeftOut = judged
  for (let tried = 0; ; tried++) {
    if ('reason' in payout) return payout
    const { settlement: before, conditions, figures, approval: found } = payout
    if (tried === MAX_TRIES) return leaveOut(before, conflict('it kept changing; try again'))
    const approval = found && useOf(deps, found)
    const after = { batch: number, figures, ...(approval && { approved: approval.shown }) }
    const record = claimRecord(before, operator, after)
    const steps = {
      ...conditions,
      settlement: claimForBatch(before, number),
      approval: approval?.step,
    }
    if ((await recordChange(deps, record, steps)).applied) return undefined
    const stored = await findAnySettlement(deps, before.settlementId)
    if (stored.batch === number) return undefined
    payout = await judgePayout(deps, stored)
  }
}

function claimRecord(
  { settlementId: subject, clientId, batch }: Settlement,
  operator: string,
  after: object,
) {
  const before = { batch: batch ?? null }
  return { subject, clientId, operator, action: 'payout-file', before, after }
}

/**
 * After a restore the bank may answer to a batch that is open again. Then it keeps all that it
 * lists, whatever the gate says.
 */
export async function keepListed(deps: BatchDeps, batch: Batch, operator: string) {
  const { number } = batch
  for (const one of await settlementsIn(deps, batch)) {
    if (one.status !== 'recorded' || one.batch === number) continue
    const record = claimRecord(one, operator, { batch: number })
    const steps = { claim: claimForBatch(one, number) }
    if (!(await recordChange(deps, record, steps)).applied) throw CHANGED_LINE
  }
}

type Filling = {
  readonly operator: string
  readonly changed: readonly LeftOut[]
  readonly judged: readonly Settlement[]
}

const CHANGED_LINE = conflict('it changed after it was judged; try again')

async function finishBatch(deps: BatchDeps, opened: Batch, { operator, changed, judged }: Filling) {
  const { number } = opened
  const lineOf = new Map(judged.map((one) => [one.settlementId, digestOfLines(payoutLines([one]))]))
  const before = await findBatch(deps, number)
  const unchanged = (await settlementsIn(deps, opened))
    .filter(isIn(number))
    .filter(isNotOf(changed))
  // Since a claim its client may be on hold, or the bank may have answered.
  const refused = await refusedAmong(deps, unchanged, async (_, one) => {
    await requireStillPayable(deps, one)
    const line = lineOf.get(one.settlementId)
    if (line !== undefined && line !== digestOfLines(payoutLines([one]))) throw CHANGED_LINE
  })
  const claimed = unchanged.filter(isNotOf(refused))
  // Before the batch is ready: a crash may repeat an alert, but never loses it.
  await mapInChunks(claimed, SIDE_BY_SIDE, (one) => alertGrowth(deps, one, number))
  const settlementIds = claimed.map(({ settlementId }) => settlementId)
  // A settlement in the batch that is paid or failed meanwhile refuses this change.
  const record = batchRecord(before, operator, 'payout-file', {
    state: 'ready',
    count: claimed.length,
    total_minor: claimed.reduce((sum, { netMinor }) => sum + netMinor, 0),
    digest: digestOfLines(payoutLines(claimed)),
    list_digest: digestOf(settlementIds),
  })
  if (before.state === 'open' && before.settlementIds && before.usedAt === undefined)
    await recordChange(deps, record, { list: setList(number, settlementIds) })
  // Another caller may have made the batch ready, or an operator have cancelled the batch, or
  // closed a settlement in the batch.
  const stored = await findBatch(deps, number)
  if (stored.state !== 'ready') throw conflict(`batch ${number} was changed meanwhile; try again`)
  return { ...(await withLines(deps, stored, await settlementsIn(deps, stored))), refused }
}

function isNotOf(leftOut: readonly LeftOut[]) {
  const ids = new Set(leftOut.map(({ settlement_id }) => settlement_id))
  return ({ settlementId }: Settlement) => !ids.has(settlementId)
}

/**
 * Throws 409 unless the records of a batch are a complete chain, which says that it is ready with
 * these lines. They are read last: the batch may have been cancelled or used meanwhile.
 */
export async function withLines(
  deps: BatchDeps,
  batch: Batch,
  settlements: readonly Settlement[],
): Promise<{ readonly batch: Batch; readonly lines: readonly PayoutLine[] }> {
  const { number } = batch
  const lines = payoutLines(settlements)
  let usedAt = batch.usedAt
  const differences = await confirmedDifferences(deps, async () => {
    const trail = await readTrail(deps, batchSubject(number), undefined)
    const said = stateIn(trail.records)
    usedAt = said.usedAt
    return [
      ...trail.differences,
      ...compare('batch.state', String(number), said.state, 'ready'),
      ...compare('batch.digest', String(number), said.digest, digestOfLines(lines)),
    ]
  })
  // A payout by hand during these reads looks like a break; the batch is in use then.
  if (differences.length > 0) usedAt = (await findBatch(deps, number)).usedAt
  if (differences.length === 0 || usedAt !== undefined)
    return { batch: { ...batch, usedAt }, lines }
  throw conflict(
    `the lines of batch ${number} are not what they were`,
    'Send no file of this batch. Run audit-ledger: its answer lists what differs.',
  )
}

/**
 * Opens the batch after the last, with the settlements that it is to claim. Throws 409 if another
 * operator opened one meanwhile: its batch is finished by the next call.
 */
export async function openNextBatch(
  deps: BatchDeps,
  last: AuditHead | undefined,
  { payouts, operator }: { readonly payouts: readonly Payout[]; readonly operator: string },
): Promise<Batch> {
  const row = {
    number: (last?.number ?? 0) + 1,
    settlementIds: payouts.slice(0, MOST_LINES).map(({ settlement }) => settlement.settlementId),
    createdAt: deps.now(),
  }
  const { number, settlementIds, createdAt } = row
  const record = {
    subject: BATCHES_SUBJECT,
    clientId: undefined,
    operator,
    action: 'payout-file',
    after: { batch: number, created_at: createdAt, count: settlementIds.length },
    head: { last },
  }
  const outcome = await recordChange(deps, record, { batch: openBatch(row) })
  if (outcome.applied) return { ...row, state: 'open', isBroken: false, last: undefined }
  // A restore may bring back a batch without its place in the register: the next call finds it.
  if (outcome.refusedBy === 'batch') {
    const stored = await findBatch(deps, number)
    const count = stored.settlementIds?.length
    const after = { batch: number, created_at: stored.createdAt ?? createdAt, count }
    await recordChange(deps, { ...record, after }, {})
  }
  throw conflict('another operator makes a payout file; try again')
}
