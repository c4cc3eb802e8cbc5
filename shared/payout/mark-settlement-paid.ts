import * as v from 'valibot'
import { auditChain } from '../audit/judged/audit-figures.ts'
import { auditSettlement } from '../audit/judged/audit-settlement.ts'
import { readClientBooks } from '../audit/judged/client-books.ts'
import type { Client } from '../client/client.ts'
import { requireClient, requirePayable } from '../client/client-store.ts'
import type { Deps, StoreDeps } from '../deps.ts'
import { GatewayError, invalid } from '../errors.ts'
import { getBalance } from '../ledger/ledger-store.ts'
import { payOutOfWindow } from '../ledger/window-store.ts'
import {
  type CloseDeps,
  type CloseInput,
  closeSettlement,
  wrongStateError,
} from '../settlement/close-settlement.ts'
import { bankIsNewUntil, type Settlement } from '../settlement/settlement.ts'
import { findAnySettlement, putBankReference } from '../settlement/settlement-store.ts'
import { addMs, MINUTE_MS } from '../time.ts'
import { unacceptedDifferences, withSince } from '../verdict/acceptances.ts'
import { readClientVerdict, requireSameClientVerdict } from '../verdict/client-verdict-store.ts'
import { compare, confirmedDifferences, type Difference } from '../verdict/difference.ts'
import {
  readSettlementVerdict,
  requireSameSettlementVerdict,
  type SettlementVerdict,
} from '../verdict/settlement-verdict-store.ts'
import { countFindings, type OpenFinding, openFindings } from './open-findings.ts'

/** An audit that ends meanwhile changes a verdict; then the payout gate runs again. */
const MAX_TRIES = 3

type GateDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'log'>

type Confirm = Partial<v.InferOutput<typeof ConfirmField>>

/**
 * Moves a settlement from `recorded` to `manual_paid` after the operator's bank transfer (spec
 * 3.2), once. One transaction writes settlement, window, bank reference and audit record, on
 * condition of what the payout gate saw. Throws 422, and 409 for a reference that paid out another
 * settlement.
 */
export async function markSettlementPaid(
  deps: CloseDeps & GateDeps,
  input: CloseInput & {
    readonly bankReference: string
    readonly notes?: string | undefined
    readonly confirm: Confirm
  },
): Promise<Settlement> {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const before = await findAnySettlement(deps, input.settlementId)
    if (before.status !== 'recorded') throw wrongStateError('marked paid', before)
    const client = await requireClient(deps, before.clientId)
    const verdicts = await passGate(deps, client, before)
    assertConfirmed(await figuresToConfirm(deps, before), input.confirm)
    const settledAt = deps.now()
    const after: Settlement = {
      ...before,
      status: 'manual_paid',
      settledAt,
      bankReference: input.bankReference,
      notes: input.notes ?? before.notes,
    }
    const details = { bank_reference: input.bankReference, confirm: input.confirm }
    const action = { operator: input.operator, action: 'mark-settlement-paid', details }
    const steps = {
      ...verdicts,
      window: payOutOfWindow(before.clientId, before.netMinor, settledAt),
      client: requirePayable(before.clientId),
      reference: putBankReference(input.bankReference, before.settlementId),
    }
    const outcome = await closeSettlement(deps, { before, after, action }, steps)
    if (outcome.applied) return after
    if (outcome.refusedBy !== 'reference') continue
    throw new GatewayError(
      'conflict',
      `bank_reference ${input.bankReference} has paid out another settlement`,
      {
        actionHint:
          'Each transfer has its own reference: look it up at the bank. list-settlements ' +
          'shows which settlement has this one.',
      },
    )
  }
  throw new GatewayError(
    'conflict',
    'this client is being audited right now; try again in a minute',
  )
}

/**
 * The most entries that are read again at a payout; for a longer settlement the audit is enough.
 */
const MAX_ENTRIES = 20_000

/**
 * The payout gate (design section 11). Throws 422 unless the settlement was audited after its
 * record, still matches its entries, payments and trail, and its client has no standing difference
 * that finance has not accepted. Answers the conditions that keep this true, for the payout's
 * transaction.
 */
async function passGate(deps: GateDeps, client: Client, { settlementId }: Settlement) {
  const { clientId } = client
  if (client.payoutHold !== undefined) {
    throw invalid(
      `payouts of this client are on hold: ${client.payoutHold}`,
      undefined,
      'update-client with "payout_hold": null ends the hold.',
    )
  }
  const [verdict, clientVerdict] = await Promise.all([
    readSettlementVerdict(deps, settlementId),
    readClientVerdict(deps, clientId),
  ])
  if (verdict?.state !== 'audited') throw notAuditedError(deps, verdict)
  const standing = await unacceptedDifferences(deps, clientId, clientVerdict.standing)
  if (standing.length > 0) throw imbalanceError(standing, clientId)
  // The differences at this moment. The transaction checks that the verdicts are unchanged.
  const { differences, isInconclusive } = await confirmedDifferences(deps, async () => {
    const books = await readClientBooks(deps, client)
    const stored = books.settlements.find(
      ({ settlement }) => settlement.settlementId === settlementId,
    )
    if (stored === undefined) return compare('settlement', settlementId, 'readable', 'unreadable')
    const ownDifferences = [...books.differences, ...auditChain(books)].filter(
      ({ id }) => id === settlementId || id === clientId,
    )
    if (stored.settlement.entryCount > MAX_ENTRIES) return ownDifferences
    return [...ownDifferences, ...(await auditSettlement(deps, books, stored))]
  })
  if (isInconclusive) throw notAuditedError(deps, { ...verdict, state: 'inconclusive' })
  const dated = withSince(differences, clientVerdict.standing, deps.now())
  const found = await unacceptedDifferences(deps, clientId, dated)
  if (found.length > 0) throw imbalanceError(found, clientId)
  return {
    settlementVerdict: requireSameSettlementVerdict(verdict),
    clientVerdict: requireSameClientVerdict(clientId, clientVerdict),
  }
}

function notAuditedError(deps: GateDeps, verdict: Partial<SettlementVerdict> = {}): GatewayError {
  const { state, dueAt: retryAt = addMs(deps.now(), MINUTE_MS) } = verdict
  const reason =
    state === 'inconclusive'
      ? 'the audit of this settlement was inconclusive and runs again'
      : 'this settlement is not audited yet; the audit runs a minute after the record'
  return invalid(reason, undefined, `Repeat the same call at ${retryAt}.`, { retryAt })
}

function imbalanceError(differences: readonly Difference[], clientId: string): GatewayError {
  const names = differences.slice(0, 10).map(({ what, id }) => `${what} of ${id}`)
  return invalid(
    `the books of this client do not balance (differences: ${differences.length})`,
    { differences: names },
    `audit-ledger {"client_id": "${clientId}"} lists them with their figures. Pay out nothing before they are repaired, or accepted with accept-difference.`,
  )
}

/** Null counts as absent (design section 5). */
const figure = v.nullish(v.pipe(v.number(), v.safeInteger()), () => undefined)

/** The 422 of a refused payout shows these figures. Zero figures are absent. */
export const ConfirmField = v.strictObject({
  /** Nets that no settled row of the provider proves, in IDR. */
  unproven: figure,
  /** The bank details changed less than 72 hours ago. */
  new_bank: v.nullish(v.literal(true), () => undefined),
  /** The client's debt apart from this settlement, in IDR. */
  owed: figure,
  /** The number of open findings about the settlement's payments. */
  findings: figure,
})

/** Throws 422 with the figures unless exactly these figures are confirmed. */
function assertConfirmed(confirm: Confirm, input: Confirm): void {
  const wrong = v.keyof(ConfirmField).options.filter((name) => confirm[name] !== input[name])
  if (wrong.length === 0) return
  if (Object.keys(confirm).length > 0) {
    throw invalid(
      'this settlement has figures to confirm before its payout',
      undefined,
      'Check them with get-settlement-statement and list-suspense. If they are right, repeat ' +
        'with "confirm" exactly as it is here.',
      { confirm },
    )
  }
  throw invalid(
    '"confirm" has figures that this settlement does not have',
    { confirm: wrong.map((name) => `${name}: there is nothing to confirm`) },
    'Check the settlement again, then repeat without "confirm".',
  )
}

/** `allFindings`: the open findings, if the caller has read them. */
export async function figuresToConfirm(
  deps: StoreDeps,
  settlement: Settlement,
  allFindings?: readonly OpenFinding[],
): Promise<Confirm> {
  const { clientId, unprovenMinor: unproven } = settlement
  const { pendingMinor, availableMinor } = await getBalance(deps, clientId)
  const findings = await countFindings(deps, settlement, allFindings ?? (await openFindings(deps)))
  const owed = -(pendingMinor + availableMinor)
  return {
    ...(unproven !== 0 && { unproven }),
    ...(deps.now() < (bankIsNewUntil(settlement) ?? '') && { new_bank: true as const }),
    ...(owed > 0 && { owed }),
    ...(findings > 0 && { findings }),
  }
}
