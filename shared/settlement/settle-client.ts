import type { Client } from '../client/client.ts'
import { findClient } from '../client/client-store.ts'
import { notFound } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { partsOf, type Window } from '../ledger/ledger-store.ts'
import { isDeducted, isReinstated, reversalsBetween, standingParts } from '../ledger/reversal-store.ts'
import type { Minor } from '../money.ts'
import { addMs, DAY_MS, type Timestamp } from '../time.ts'
import { newSettlement, type SettleDeps, type SettleTrigger } from './new-settlement.ts'
import { sumsOf } from './paid-payments.ts'
import { recordSettlement } from './record-settlement.ts'
import { rerecordSettlements } from './rerecord-settlements.ts'
import type { Settlement } from './settlement.ts'
import { feeDeadline, sumWindow, type WindowSums } from './sum-window.ts'
import { addSums, assertBalanced, lessSums } from './sums.ts'
import { readWindow, sweepStep } from './window-store.ts'

export type SettleResult = {
  readonly settlements: readonly Settlement[]
  /** What is eligible but not settled: at or below the floor. */
  readonly eligibleMinor: Minor
  /** What was recredited and waits in available, each settlement at or below the floor. */
  readonly waitingMinor: Minor
  readonly floorMinor: Minor
  /** When the first payment waiting for its actual fee was paid. */
  readonly heldSince: Timestamp | undefined
  /** From when on it waits no longer, whatever the provider says. */
  readonly heldUntil: Timestamp | undefined
  /** Until when the window is summed so far, when one run does not sum all of it: the queue has the next one. */
  readonly summedUntil: Timestamp | undefined
}

/** A payment is eligible from this age on, to the millisecond (spec 3.2, rule 2). */
const ELIGIBLE_AGE_MS = DAY_MS

const registered = async (deps: SettleDeps, clientId: ClientId): Promise<Client> => {
  const client = await findClient(deps, clientId)
  if (client === undefined) throw notFound('client')
  return client
}

const recordWindow = async (
  deps: SettleDeps,
  client: Client,
  { stood, window }: { readonly stood: Window; readonly window: WindowSums & { readonly reversedParts: number } },
  trigger: SettleTrigger,
): Promise<Settlement | undefined> => {
  assertBalanced(window.sums)
  const now = deps.now()
  const settlement = newSettlement(deps, client, window, trigger.by, now)
  const { settlementId: id, netMinor: net } = settlement
  const step = sweepStep(client.clientId, { stood, until: window.period.end, id, net, at: now })
  return recordSettlement(deps, settlement, { window: step }, trigger)
}

/**
 * Hands the rest of a window to the next run, in the name of whoever asked. Behind the progress kept: a message that
 * is lost costs a day, one that comes twice nothing.
 */
const handOn = async (deps: SettleDeps, clientId: ClientId, trigger: SettleTrigger): Promise<void> => {
  const request_id = trigger.by === 'manual' ? (trigger.requestId ?? deps.invocation?.requestId) : undefined
  const operator = trigger.by === 'manual' ? { operator: trigger.operator, ...(request_id && { request_id }) } : {}
  await deps.queues.send('settlements', {
    body: { client_id: clientId, ...operator },
    delaySeconds: 0,
    group: clientId,
  })
}

/**
 * The window without what went back before it is swept, with what came again and stands in it, and the window item as it stood before that was read: whatever is
 * reversed from then on refuses the record. Undefined when somebody has swept since.
 */
const withoutReversed = async (deps: SettleDeps, clientId: ClientId, read: Window, window: WindowSums) => {
  const stood = await readWindow(deps, clientId)
  if (stood.settledUntil !== read.settledUntil) return undefined
  const reversals = await reversalsBetween(deps, clientId, window.period)
  const reinstated = reversals.filter(isReinstated).map(sumsOf).reduce(addSums, window.sums)
  const sums = reversals.filter(isDeducted).map(sumsOf).reduce(lessSums, reinstated)
  return { stood, window: { ...window, sums, reversedParts: standingParts(reversals).length } }
}

/**
 * Sweep and trigger at once: the loser finds a moved window and looks at what is left of it. Behind a reversal the sums
 * kept stand, and only the reversals are read again.
 */
const MAX_TRIES = 8

/**
 * Settles one client (spec 3.2; design section 4, "Sweep and settle"): recredited settlements are recorded again
 * first, then the payments paid at least 24 hours ago become one settlement if their net exceeds the floor. Window and
 * settlement are one transaction, conditioned on the window's start: a crash anywhere leaves nothing half done, and of
 * two callers one settles. A window that one run cannot sum is gone on with by the next, which it sends for. Throws 404
 * for an unknown client.
 */
export const settleClient = async (
  deps: SettleDeps,
  clientId: ClientId,
  trigger: SettleTrigger,
): Promise<SettleResult> => {
  const known = await registered(deps, clientId)
  const began = await readWindow(deps, clientId)
  const rerecorded = await rerecordSettlements(deps, known, began, trigger)
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const swept = await readWindow(deps, clientId)
    const end = addMs(deps.now(), 1 - ELIGIBLE_AGE_MS)
    const period = { start: swept.settledUntil, end }
    const summed = await sumWindow(deps, { clientId, parts: partsOf(swept), period })
    const found = summed.isWhole
      ? await withoutReversed(deps, clientId, swept, summed)
      : { stood: swept, window: { ...summed, reversedParts: 0 } }
    if (found === undefined) continue
    const { window } = found
    // Read behind the summing, which can take minutes: the floor and the bank details are those of the record's moment.
    const client = await registered(deps, clientId)
    const result = {
      settlements: rerecorded.settlements,
      eligibleMinor: window.sums.netMinor,
      waitingMinor: rerecorded.waitingMinor,
      floorMinor: client.settlementFloorMinor,
      heldSince: window.heldBy?.paidAt,
      heldUntil: window.heldBy && feeDeadline(window.heldBy.paidAt),
      summedUntil: window.isWhole ? undefined : window.period.end,
    }
    if (!window.isWhole) {
      await handOn(deps, clientId, trigger)
      deps.log.info('settlement.summing', { client_id: clientId, payments: window.sums.paymentCount })
      return result
    }
    if (window.sums.netMinor <= client.settlementFloorMinor) {
      deps.log.info('settlement.waiting', { client_id: clientId, held: window.heldBy !== undefined })
      return result
    }
    const settlement = await recordWindow(deps, client, found, trigger)
    if (settlement) return { ...result, settlements: [...rerecorded.settlements, settlement] }
  }
  throw new Error('a settlement window kept moving while it was swept')
}
