import { registeredBanks } from '../audit/judged/derive-settlement.ts'
import type { StoreDeps, TableDeps } from '../deps.ts'
import { getBalance } from '../ledger/ledger-store.ts'
import { type ApprovedFigures, findValidApproval } from '../operator/approval-store.ts'
import { readAuditRecords } from '../operator/audit-record-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { paidSettlements } from '../settlement/settlement-store.ts'
import { countFindings } from './count-findings.ts'
import { type GateDeps, passGate } from './payout-gate.ts'

/** What a payout needs an approval for. Figures of zero are absent. */
export type PayoutFigures = {
  /** Positive nets that no settled row of the provider proves, in IDR. */
  readonly unproven?: number
  /** The account, if no payout to it stands and the client was not registered with it at first. */
  readonly new_bank?: string
  /** The client's debt apart from this settlement, in IDR. */
  readonly owed?: number
  /** The number of findings about its payments, open or explained by a person. */
  readonly findings?: number
}

export async function payoutFigures(
  deps: TableDeps,
  settlement: Settlement,
): Promise<PayoutFigures> {
  const { clientId, unprovenMinor: unproven } = settlement
  const [{ pendingMinor, availableMinor }, findings, newBank] = await Promise.all([
    getBalance(deps, clientId),
    countFindings(deps, settlement),
    newBankOf(deps, settlement),
  ])
  const owed = -(pendingMinor + availableMinor)
  return {
    ...(unproven > 0 && { unproven }),
    ...(newBank !== undefined && { new_bank: newBank }),
    ...(owed > 0 && { owed }),
    ...(findings > 0 && { findings }),
  }
}

/** The account, if a payout to it needs an approval: it was neither paid nor registered first. */
async function newBankOf(deps: TableDeps, { clientId, bank }: Settlement) {
  if (!bank?.isChange) return undefined
  const account = accountOf(bank)
  for await (const paid of paidSettlements(deps, clientId)) {
    const stands = paid.some(
      ({ bank: to, returnedAt }) => returnedAt === undefined && accountOf(to) === account,
    )
    if (stands) return undefined
  }
  const { records } = await readAuditRecords(deps, clientId)
  const isFirst = registeredBanks(records).some(
    ({ bank: known }) => !known?.isChange && accountOf(known) === account,
  )
  return isFirst ? undefined : account
}

function accountOf(bank: Settlement['bank']) {
  return bank && `${bank.bankName.toUpperCase()} ${bank.bankAccountNo}`
}

/** The gate, then the figures of the payout with their approval. Uses nothing up. */
export async function passWithFigures(deps: GateDeps, settlement: Settlement) {
  const conditions = await passGate(deps, settlement)
  const figures = await payoutFigures(deps, settlement)
  return { conditions, figures, approval: await findPayoutApproval(deps, settlement, figures) }
}

/**
 * The approval of a payout's figures, each of which is at most what it names. Undefined without
 * figures. Throws 422 with the figures and the approver's command.
 */
export async function findPayoutApproval(
  deps: StoreDeps,
  { settlementId }: Settlement,
  figures: PayoutFigures,
) {
  if (Object.keys(figures).length === 0) return undefined
  const payload = { settlement_id: settlementId, ...figures }
  return findValidApproval(deps, { action: 'mark-settlement-paid', payload }, (approved) =>
    isCovered(figures, approved),
  )
}

export function isCovered(figures: PayoutFigures, approved: ApprovedFigures) {
  return Object.entries(figures).every(([name, figure]) => {
    const limit = approved[name]
    return typeof figure === 'number' && typeof limit === 'number'
      ? figure <= limit
      : figure === limit
  })
}
