import { findBank } from '../bank/bank-account.ts'
import { mapInChunks } from '../chunks.ts'
import type { Client } from '../client/client.ts'
import { type Registered, walkClients } from '../client/client-register.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps, StoreDeps } from '../deps.ts'
import { GatewayError, invalid, refused } from '../errors.ts'
import { ANSWER_HINT, type Batch, cancelHint } from '../settlement/batch/batch.ts'
import { otherLiveBatch } from '../settlement/batch/batch-store.ts'
import { wrongStateError } from '../settlement/close-settlement.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { recordedSettlements } from '../settlement/settlement-store.ts'
import { findPayoutApproval, passWithFigures, payoutFigures } from './payout-figures.ts'
import { type GateDeps, requireStoredChecks } from './payout-gate.ts'

/** A settlement that may enter a batch, and what its claim must find unchanged. */
export type Payout = Awaited<ReturnType<typeof passWithFigures>> & {
  readonly settlement: Settlement
}

export type LeftOut = {
  readonly settlement_id: string
  readonly client_id: string
  /** Null if the row cannot be read. */
  readonly amount_minor: number | null
  readonly reason: string
  readonly command: string | null
  /** The figures that need an approval. */
  readonly confirm?: unknown
}

type Named = Pick<Settlement, 'settlementId' | 'clientId'>

/** Judging and claiming them stays below the function's time. */
const PAYOUTS_AT_ONCE = 1_000

export const SIDE_BY_SIDE = 8

/** Judges the recorded settlements client by client, each client's oldest first. */
export async function judgeClients(
  deps: GateDeps & Pick<Deps, 'monotonicMs'>,
  start: Registered | undefined,
) {
  const payouts: Payout[] = []
  const leftOut: LeftOut[] = []
  const read = async (clients: readonly Registered[]) => {
    const lists = await mapInChunks(clients, SIDE_BY_SIDE, async ({ clientId }) => {
      const { settlements, unreadableIds } = await recordedSettlements(deps, clientId)
      const error = refused(
        'its row cannot be read: it was changed by hand, or by a later release',
        `audit-ledger --client_id ${clientId} names it; recount-ledger repairs what it can.`,
      )
      for (const settlementId of unreadableIds)
        leftOut.push(leaveOut({ settlementId, clientId, netMinor: null }, error))
      return settlements
    })
    const judged = await mapInChunks(lists.flat(), SIDE_BY_SIDE, (one) => judgePayout(deps, one))
    for (const one of judged) {
      if ('reason' in one) leftOut.push(one)
      else payouts.push(one)
    }
  }
  const isFull = () => payouts.length + leftOut.length >= PAYOUTS_AT_ONCE
  const position = await walkClients(deps, start, { read, isFull })
  return { payouts, leftOut, position }
}

/** Uses up nothing. Leaves out a settlement that it cannot judge. */
export async function judgePayout(
  deps: GateDeps,
  settlement: Settlement,
): Promise<Payout | LeftOut> {
  try {
    await requireLine(deps, settlement)
    return { settlement, ...(await passWithFigures(deps, settlement)) }
  } catch (error) {
    return leaveOutFailed(deps, settlement, error)
  }
}

/** Whatever fails about one settlement stops no other settlement. */
export function leaveOutFailed(
  deps: Pick<Deps, 'log'>,
  settlement: Settlement,
  error: unknown,
): LeftOut {
  return leaveOut(settlement, refusalOf(deps, settlement.settlementId, error))
}

/** Why a line is refused or left out. Of an unexpected failure the log has the cause. */
export function refusalOf(
  { log }: Pick<Deps, 'log'>,
  settlementId: string | undefined,
  error: unknown,
) {
  if (error instanceof GatewayError) return error
  log.error('payout.line_failed', { settlement_id: settlementId }, error)
  return new GatewayError('internal_error', 'the line failed; the log has the cause', {
    actionHint:
      'Repeat the same call. If it fails again, audit-ledger --client_id … names a row that ' +
      'cannot be read.',
  })
}

export function leaveOut(
  { settlementId, clientId, netMinor }: Named & { readonly netMinor: number | null },
  { message, details }: GatewayError,
): LeftOut {
  const { actionHint, confirm } = details
  return {
    settlement_id: settlementId,
    client_id: clientId,
    amount_minor: netMinor,
    reason: confirm ? `${message} ${JSON.stringify(confirm)}` : message,
    command: actionHint ?? null,
    ...(confirm && { confirm }),
  }
}

/** Whether a file can have a line for it, besides the payout gate. */
async function requireLine(deps: GateDeps, settlement: Settlement) {
  const { clientId, netMinor, status, bank } = settlement
  if (status !== 'recorded') throw wrongStateError('paid out', settlement)
  await requireInNoOther(deps, settlement, undefined)
  if (netMinor <= 0) throw invalid('there is nothing to transfer')
  requireEnabled(await requireClient(deps, clientId))
  if (bank && findBank(bank.bankName) === undefined)
    throw invalid(`no bank of the list has the name ${bank.bankName}`)
}

function requireEnabled({ enabled }: Client) {
  if (!enabled)
    throw refused(
      'the client is disabled',
      'mark-settlement-paid records a transfer that is made by hand.',
    )
}

/**
 * For what a batch has claimed. Its client, the audits and the bank's answers may have changed
 * since: an open batch may be as old as the crash that left it.
 */
export async function requireStillPayable(deps: GateDeps, settlement: Settlement) {
  await requireInNoOther(deps, settlement, settlement.batch)
  const { client } = await requireStoredChecks(deps, settlement)
  requireEnabled(client)
}

/** Throws 422 if another live batch has it, also an earlier one that is live again. */
async function requireInNoOther(
  deps: Pick<GateDeps, 'table'>,
  settlement: Settlement,
  own: number | undefined,
) {
  const live = await otherLiveBatch(deps, settlement, own)
  if (live) throw inBatchError(live)
}

function inBatchError({ number, state, usedAt }: Batch) {
  if (state === 'cancelled' || usedAt !== undefined) {
    const why =
      state === 'cancelled'
        ? 'which was cancelled, but the bank has answered to its file'
        : 'whose file is in use'
    return refused(`it is in batch ${number}, ${why}`, ANSWER_HINT)
  }
  return refused(
    `it is in batch ${number}, whose file may be at the bank`,
    `payout-file --batch ${number} gives the file again, or says why not; ${cancelHint(number)}`,
  )
}

/**
 * Says which figures of a recorded settlement wait for an approval; null if none does. It reads
 * what a payout reads, and uses nothing up.
 */
export async function missingApproval(deps: StoreDeps & Pick<Deps, 'log'>, settlement: Settlement) {
  try {
    await findPayoutApproval(deps, settlement, await payoutFigures(deps, settlement))
    return null
  } catch (error) {
    const { reason, confirm } = leaveOutFailed(deps, settlement, error)
    return confirm ? `needs an approval of ${JSON.stringify(confirm)}` : reason
  }
}
