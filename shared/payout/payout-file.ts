import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import { RegisteredSchema, walkClients } from '../client/client-register.ts'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { encodeCursor, readCursor } from '../page.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { toSettlementDto } from '../settlement/settlement-dto.ts'
import { recordedSettlements } from '../settlement/settlement-store.ts'
import { csv } from '../settlement/statement/csv.ts'
import { findPayoutApproval, payoutFigures } from './payout-figures.ts'
import { requirePassing } from './payout-gate.ts'

const COLUMNS = [
  'settlement_id',
  'amount',
  'bank_name',
  'bank_account_no',
  'bank_account_name',
  'client_id',
] as const

const Progress = v.strictObject({ position: RegisteredSchema })

const CONCURRENCY = 8

const LINES_AT_ONCE = 2_000

type PayoutFileDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'log' | 'monotonicMs'>

/**
 * The payouts for the bank: a line of each recorded settlement, client by client, oldest first, as
 * CSV. The bank pays the whole file before an operator marks a payout, so a settlement that the
 * payout gate refuses, or that lacks its approval, is left out and named with the reason. A longer
 * list continues at the cursor.
 */
export async function payoutFile(deps: PayoutFileDeps, cursor: string | undefined) {
  const lines: Settlement[] = []
  const leftOut: { settlement_id: string; reason: string }[] = []
  const read = async (clientIds: readonly ClientId[]) => {
    const lists = await mapInChunks(clientIds, CONCURRENCY, (clientId) =>
      recordedSettlements(deps, clientId),
    )
    const results = await mapInChunks(lists.flat(), CONCURRENCY, async (settlement) => {
      return { settlement, reason: await reasonAgainst(deps, settlement) }
    })
    for (const { settlement, reason } of results) {
      if (reason === undefined) lines.push(settlement)
      else leftOut.push({ settlement_id: settlement.settlementId, reason })
    }
  }
  const position = await walkClients(deps, readCursor(Progress, cursor)?.position, {
    read,
    isFull: () => lines.length + leftOut.length >= LINES_AT_ONCE,
  })
  const payouts = lines.map((settlement) => ({
    ...toSettlementDto(settlement),
    settlement_id: settlement.settlementId,
    amount: settlement.netMinor,
  }))
  return {
    csv: csv(COLUMNS, payouts, cursor !== undefined),
    left_out: leftOut,
    ...(position && { continuing: true, cursor: encodeCursor({ position }) }),
  }
}

/** Passes the whole gate, and uses up nothing. Undefined: the settlement may be paid out. */
async function reasonAgainst(
  deps: PayoutFileDeps,
  settlement: Settlement,
): Promise<string | undefined> {
  try {
    await requirePassing(deps, settlement)
    await findPayoutApproval(deps, settlement, await payoutFigures(deps, settlement))
    return undefined
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { confirm } = error.details
    return confirm ? `${error.message} ${JSON.stringify(confirm)}` : error.message
  }
}
