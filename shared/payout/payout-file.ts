import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import { RegisteredSchema, walkClients } from '../client/client-register.ts'
import { findClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { encodeCursor, readCursor } from '../page.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { toSettlementDto } from '../settlement/settlement-dto.ts'
import { recordedSettlements } from '../settlement/settlement-store.ts'
import { csv } from '../settlement/statement/csv.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { type ClientVerdict, readClientVerdict } from '../verdict/client-verdict-store.ts'
import { figuresToConfirm } from './mark-settlement-paid.ts'
import { type OpenFinding, openFindings } from './open-findings.ts'
import { whyRefused } from './payout-gate.ts'

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

type PayoutFileDeps = Pick<Deps, 'table' | 'stage' | 'now' | 'monotonicMs'>

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
  const shared = {
    findings: await openFindings(deps),
    gateway: await readClientVerdict(deps, GATEWAY_OWNER),
  }
  const read = async (clientIds: readonly ClientId[]) => {
    const lists = await mapInChunks(clientIds, CONCURRENCY, (clientId) =>
      recordedSettlements(deps, clientId),
    )
    const results = await mapInChunks(lists.flat(), CONCURRENCY, async (settlement) => {
      return { settlement, reason: await reasonAgainst(deps, settlement, shared) }
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
  deps: PayoutFileDeps,
  settlement: Settlement,
  {
    findings,
    gateway,
  }: { readonly findings: readonly OpenFinding[]; readonly gateway: ClientVerdict },
): Promise<string | undefined> {
  const { clientId } = settlement
  const [client, verdict] = await Promise.all([
    findClient(deps, clientId),
    readClientVerdict(deps, clientId),
  ])
  if (client === undefined) return 'the merchant is missing: see audit-ledger'
  const refusal = await whyRefused(deps, { settlement, client, verdict, gateway })
  if (refusal) return refusal.message
  const confirm = JSON.stringify(await figuresToConfirm(deps, settlement, findings))
  return confirm === '{}' ? undefined : `mark-settlement-paid needs confirm ${confirm}`
}
