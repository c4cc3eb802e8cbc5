import * as v from 'valibot'
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
import { countFindings, type OpenFinding, openFindings } from './open-findings.ts'
import { passGate } from './payout-gate.ts'

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
    const conditions = await passGate(deps, before)
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
      ...conditions,
      window: payOutOfWindow(before.clientId, before.netMinor, settledAt),
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
