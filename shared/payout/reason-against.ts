import { findClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { readClientVerdict } from '../verdict/client-verdict-store.ts'
import { notAccepted } from '../verdict/note-found.ts'
import { readSettlementVerdict } from '../verdict/settlement-verdict-store.ts'
import { toConfirm } from './confirm.ts'

/**
 * Why a settlement is not in the bank's file: the payout gate would refuse or question it by what is stored. Undefined
 * without a reason. The gate itself also reads the entries again.
 */
export const reasonAgainst = async (
  deps: Pick<Deps, 'table' | 'now'>,
  settlement: Settlement,
): Promise<string | undefined> => {
  const { clientId, settlementId, bank } = settlement
  if (bank === undefined) return 'no bank details'
  const [client, verdict, standing] = await Promise.all([
    findClient(deps, clientId),
    readSettlementVerdict(deps, settlementId),
    readClientVerdict(deps, clientId),
  ])
  if (client?.payoutHold !== undefined) return `payouts of this client are on hold: ${client.payoutHold}`
  if (verdict?.state !== 'audited') return 'not audited yet'
  if (notAccepted(standing).length > 0) return 'the books of this client do not balance: audit-ledger lists why'
  const confirm = JSON.stringify(await toConfirm(deps, settlement))
  return confirm === '{}' ? undefined : `mark-settlement-paid needs confirm ${confirm}`
}
