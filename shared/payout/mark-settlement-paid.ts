import { believed } from '../audit/believed.ts'
import { auditChain } from '../audit/judged/audit-figures.ts'
import { auditSettlement } from '../audit/judged/audit-settlement.ts'
import { readClientBooks } from '../audit/judged/client-books.ts'
import type { Client } from '../client/client.ts'
import { mayBePaidOut, requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { GatewayError, invalid } from '../errors.ts'
import { payOutOfWindow } from '../ledger/window-store.ts'
import { type Close, type CloseDeps, closeSettlement, wrongState } from '../settlement/close-settlement.ts'
import { findAnySettlement, putBankReference } from '../settlement/close-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { addMs, MINUTE_MS } from '../time.ts'
import {
  type ClientVerdict,
  clientVerdictStands,
  isExactly,
  notAccepted,
  readClientVerdict,
} from '../verdict/client-verdict-store.ts'
import { type Difference, differs } from '../verdict/difference.ts'
import {
  readSettlementVerdict,
  type SettlementVerdict,
  settlementVerdictStands,
} from '../verdict/settlement-verdict-store.ts'
import { assertConfirmed, type Confirm, toConfirm } from './confirm.ts'

type PayDeps = CloseDeps & GateDeps

const usedReference = (reference: string): GatewayError =>
  new GatewayError('conflict', `bank_reference ${reference} has paid out another settlement`, {
    actionHint: 'Each transfer has a reference of its own: look it up at the bank. list-settlements shows whose it is.',
  })

/** An audit that ends meanwhile changes a verdict; then the gate is passed again. */
const MOST_TRIES = 3

/**
 * Moves a settlement from `recorded` to `manual_paid` after the operator's bank transfer (spec 3.2). Passes the payout
 * gate and needs its figures confirmed. One transaction writes settlement, window, bank reference and audit record, on
 * condition of what the gate saw. Happens once; terminal. Throws 422, and 409 for a reference that paid out another
 * settlement.
 */
export const markSettlementPaid = async (
  deps: PayDeps,
  input: Close & { readonly bankReference: string; readonly notes?: string | undefined; readonly confirm: Confirm },
): Promise<Settlement> => {
  for (let tried = 0; tried < MOST_TRIES; tried++) {
    const before = await findAnySettlement(deps, input.settlementId)
    if (before.status !== 'recorded') throw wrongState('marked paid', before)
    const client = await requireClient(deps, before.clientId)
    const verdicts = await passGate(deps, client, before)
    assertConfirmed(await toConfirm(deps, before), input.confirm)
    const after: Settlement = {
      ...before,
      status: 'manual_paid',
      settledAt: deps.now(),
      bankReference: input.bankReference,
      notes: input.notes ?? before.notes,
    }
    const by = {
      operator: input.operator,
      action: 'mark-settlement-paid',
      noted: { bank_reference: input.bankReference, confirm: input.confirm },
    }
    const outcome = await closeSettlement(
      deps,
      { before, after, by },
      {
        ...verdicts,
        window: payOutOfWindow(before.clientId, before.netMinor),
        client: mayBePaidOut(before.clientId),
        reference: putBankReference(input.bankReference, before.settlementId),
      },
    )
    if (outcome.applied) return after
    if (outcome.refusedBy === 'reference') throw usedReference(input.bankReference)
  }
  throw new GatewayError('conflict', 'this client is being audited right now; try again in a minute')
}

type GateDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'log'>

/** The most entries that are read again at a payout; for a longer settlement the audit is enough. */
const MOST_ENTRIES = 20_000

const NAMED = 10

const waits = (deps: GateDeps, verdict: SettlementVerdict | undefined): GatewayError => {
  const retryAt = verdict?.dueAt ?? addMs(deps.now(), MINUTE_MS)
  const why =
    verdict?.state === 'inconclusive'
      ? 'the audit of this settlement was inconclusive and runs again'
      : 'this settlement is audited a minute after it was recorded'
  return invalid(why, undefined, `Repeat this at ${retryAt}.`, { retryAt })
}

const refusedBy = (differences: readonly Difference[], clientId: string): GatewayError => {
  const named = differences.slice(0, NAMED).map(({ what, id }) => `${what} of ${id}`)
  return invalid(
    `the books of this client do not balance: ${differences.length} differences`,
    { differences: named },
    `audit-ledger {"client_id": "${clientId}"} lists them with their figures. Pay out nothing before they are repaired, or accepted with accept-difference.`,
  )
}

/** The settlement's differences at this moment, because the audit was some time ago. */
const auditNow = async (deps: GateDeps, client: Client, { settlementId }: Settlement) => {
  const { differences } = await believed(deps, async () => {
    const books = await readClientBooks(deps, client)
    const stored = books.settlements.find(({ settlement }) => settlement.settlementId === settlementId)
    if (stored === undefined) return differs('settlement', settlementId, 'readable', 'unreadable')
    const read = [...books.differences, ...auditChain(books)]
    const own = read.filter(({ id }) => id === settlementId || id === client.clientId)
    if (stored.settlement.entryCount > MOST_ENTRIES) return own
    return [...own, ...(await auditSettlement(deps, books, stored))]
  })
  // The transaction checks that settlement, verdicts and client are unchanged.
  return differences
}

const isAccepted = ({ accepted }: ClientVerdict, difference: Difference): boolean =>
  accepted.some((one) => isExactly(one, difference))

/**
 * The payout gate (design section 11). Throws 422 unless the settlement was audited since it was recorded, still
 * matches its entries, payments and trail, and its client has no standing difference that finance has not accepted.
 * Answers the conditions that keep this true, for the payout's transaction.
 */
const passGate = async (deps: GateDeps, client: Client, settlement: Settlement) => {
  const { clientId } = client
  if (client.payoutHold !== undefined) {
    throw invalid(
      `payouts of this client are on hold: ${client.payoutHold}`,
      undefined,
      'update-client with "payout_hold": null ends the hold.',
    )
  }
  const [verdict, clientVerdict] = await Promise.all([
    readSettlementVerdict(deps, settlement.settlementId),
    readClientVerdict(deps, clientId),
  ])
  if (verdict?.state !== 'audited') throw waits(deps, verdict)
  const standing = notAccepted(clientVerdict)
  if (standing.length > 0) throw refusedBy(standing, clientId)
  const found = (await auditNow(deps, client, settlement)).filter((one) => !isAccepted(clientVerdict, one))
  if (found.length > 0) throw refusedBy(found, clientId)
  return {
    settlementVerdict: settlementVerdictStands(verdict),
    clientVerdict: clientVerdictStands(clientId, clientVerdict),
  }
}
