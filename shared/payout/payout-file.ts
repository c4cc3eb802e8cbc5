import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import { RegisteredSchema, walkClients } from '../client/client-register.ts'
import { findClient } from '../client/client-store.ts'
import type { Deps, StoreDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { encodeCursor, readCursor } from '../page.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { toSettlementDto } from '../settlement/settlement-dto.ts'
import { recordedSettlements } from '../settlement/settlement-store.ts'
import { csv } from '../settlement/statement/csv.ts'
import { unacceptedDifferences } from '../verdict/acceptances.ts'
import { readClientVerdict } from '../verdict/client-verdict-store.ts'
import { readSettlementVerdict } from '../verdict/settlement-verdict-store.ts'
import { figuresToConfirm } from './mark-settlement-paid.ts'
import { type OpenFinding, openFindings } from './open-findings.ts'

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

type PayoutFileDeps = Pick<Deps, 'table' | 'now' | 'monotonicMs'>

/**
 * The payouts for the bank: a line of each recorded settlement, client by client, oldest first, as
 * CSV. The bank pays the whole file before an operator marks a payout, so a settlement that the
 * payout gate would refuse or question is left out and named with the reason. A longer list
 * continues at the cursor.
 */
export async function payoutFile(deps: PayoutFileDeps, cursor: string | undefined) {
  const lines: Settlement[] = []
  const leftOut: { settlement_id: string; reason: string }[] = []
  // Findings are read once, because an outage of the provider may leave thousands.
  const findings = await openFindings(deps)
  const read = async (clientIds: readonly ClientId[]) => {
    const lists = await mapInChunks(clientIds, CONCURRENCY, (clientId) =>
      recordedSettlements(deps, clientId),
    )
    const results = await mapInChunks(lists.flat(), CONCURRENCY, async (settlement) => {
      return { settlement, reason: await reasonAgainst(deps, settlement, findings) }
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

/** Decides by what is stored; the payout gate also reads the entries. */
async function reasonAgainst(
  deps: StoreDeps,
  settlement: Settlement,
  findings: readonly OpenFinding[],
): Promise<string | undefined> {
  const { clientId, settlementId, bank } = settlement
  if (bank === undefined) return 'no bank details'
  const [client, verdict, clientVerdict] = await Promise.all([
    findClient(deps, clientId),
    readSettlementVerdict(deps, settlementId),
    readClientVerdict(deps, clientId),
  ])
  if (client === undefined) return 'the merchant is missing: see audit-ledger'
  if (client.payoutHold !== undefined)
    return `payouts of this client are on hold: ${client.payoutHold}`
  if (verdict?.state !== 'audited') return 'not audited yet'
  if ((await unacceptedDifferences(deps, clientId, clientVerdict.standing)).length > 0)
    return 'the books of this client do not balance: see audit-ledger'
  const confirm = JSON.stringify(await figuresToConfirm(deps, settlement, findings))
  return confirm === '{}' ? undefined : `mark-settlement-paid needs confirm ${confirm}`
}
