import { requireClient } from '../client/client-store.ts'
import { invalid } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { raiseFence } from '../ledger/fence-store.ts'
import { getBalance } from '../ledger/ledger-store.ts'
import { readWindow, type Window } from '../ledger/window-store.ts'
import { less, type Minor } from '../money.ts'
import { postOverdue } from '../posting/assume-fee.ts'
import { addMs, later, type Timestamp } from '../time.ts'
import { recordSettlement, type SettleDeps, type SettleTrigger } from './record-settlement.ts'
import type { Settlement } from './settlement.ts'
import { findSettlements } from './settlement-store.ts'
import { noSums, type Summed, sumEntries, sumFirstPage } from './sum-entries.ts'
import { keepSum, keptSum } from './sum-progress-store.ts'

type SettleResult = {
  readonly settlement: Settlement | undefined
  /** The net that may be settled now, re-credits and deductions included. */
  readonly eligibleMinor: Minor
  readonly floorMinor: Minor
  /** True when one run could not sum the window: the queue has a message for the next run. */
  readonly isContinuing: boolean
}

/**
 * Sends the message for the next run, in the name of the same operator. The progress is stored before: a lost message
 * costs a day, a second one nothing.
 */
const sendForNextRun = async (deps: SettleDeps, clientId: ClientId, trigger: SettleTrigger): Promise<void> => {
  const requestId = trigger.by === 'manual' ? (trigger.requestId ?? deps.invocation?.requestId) : undefined
  const operator =
    trigger.by === 'manual' ? { operator: trigger.operator, ...(requestId && { request_id: requestId }) } : {}
  await deps.queues.send('settlements', {
    body: { client_id: clientId, ...operator },
    delaySeconds: 0,
    group: clientId,
  })
}

/** The digest of the client's previous settlement: the next one continues from it. */
const digestBefore = async (deps: SettleDeps, { lastSettlementId }: Window): Promise<string> => {
  if (lastSettlementId === undefined) return ''
  const [last] = await findSettlements(deps, [lastSettlementId])
  if (last === undefined) throw new Error('the last settlement of a client is not there')
  return last.digest
}

/** Closes the window, then sums its entries from the end of the last run. */
const closeAndSum = async (
  deps: SettleDeps,
  clientId: ClientId,
  { window, end }: { readonly window: Window; readonly end: Timestamp },
): Promise<Summed> => {
  const { parts } = await raiseFence(deps, clientId, end)
  const span = { start: window.settledUntil, end }
  const from = keptSum(window) ?? { sums: noSums(await digestBefore(deps, window)), position: undefined }
  return sumEntries(deps, { clientId, parts, span }, from)
}

/** A sweep and a trigger may run at the same time. The loser finds a moved window and settles the rest. */
const MOST_TRIES = 4

const settleOnce = async (deps: SettleDeps, clientId: ClientId, trigger: SettleTrigger) => {
  const window = await readWindow(deps, clientId)
  const end = later(addMs(deps.now(), 1), keptSum(window)?.end ?? addMs(window.settledUntil, 1))
  const span = { start: window.settledUntil, end }
  const { settlementFloorMinor: floorMinor } = await requireClient(deps, clientId)
  const waiting = (eligibleMinor: Minor): SettleResult => {
    deps.log.info('settlement.waiting', { client_id: clientId })
    return { settlement: undefined, eligibleMinor, floorMinor, isContinuing: false }
  }
  const first = await sumFirstPage(deps, { clientId, parts: window.parts, span })
  if (first !== undefined && first <= floorMinor) return waiting(first)

  const { sums, position, isWhole } = await closeAndSum(deps, clientId, { window, end })
  if (!isWhole) {
    if (!(await keepSum(deps, clientId, window, { sums, position, end }))) return 'overtaken'
    await sendForNextRun(deps, clientId, trigger)
    deps.log.info('settlement.summing', { client_id: clientId, payments: sums.paymentCount })
    return { settlement: undefined, eligibleMinor: sums.netMinor, floorMinor, isContinuing: true }
  }
  // Read after the summing, which can take minutes: the record has the present floor and bank details.
  const client = await requireClient(deps, clientId)
  if (sums.netMinor <= client.settlementFloorMinor) return waiting(sums.netMinor)
  const settlement = await recordSettlement(deps, { client, window, end, sums }, trigger)
  if (settlement === undefined) return 'overtaken'
  return { settlement, eligibleMinor: sums.netMinor, floorMinor, isContinuing: false }
}

/**
 * Settles one client (spec 3.2; design section 4, "Sweep and settle"). Each posted entry is in exactly one settlement,
 * and a settlement's sums are those of its entries. The fence closes the window before its entries are read. The record
 * is one transaction, on condition of the window's start. A crash leaves nothing half done, and of two callers one
 * settles. Throws 404 for an unknown client.
 */
export const settleClient = async (deps: SettleDeps, clientId: ClientId, trigger: SettleTrigger) => {
  const { parts } = await readWindow(deps, (await requireClient(deps, clientId)).clientId)
  if (await postOverdue(deps, { clientId, parts })) await sendForNextRun(deps, clientId, trigger)
  for (let tried = 0; tried < MOST_TRIES; tried++) {
    const result = await settleOnce(deps, clientId, trigger)
    if (result !== 'overtaken') return result
  }
  throw new Error('a settlement window kept moving while it was swept')
}

/**
 * Settles a client at an operator's request, by the same rules and floor as the sweep (spec 3.2, rule 4). Throws 422
 * when there is nothing to settle, with the eligible and open amounts and the floor, and in a closed stage.
 */
export const triggerSettlement = async (
  deps: SettleDeps,
  input: { readonly clientId: ClientId; readonly operator: string },
): Promise<Pick<SettleResult, 'settlement' | 'isContinuing'>> => {
  if (deps.stage.isClosed === true) {
    throw invalid('the stage is closed', undefined, 'Recount the ledgers, and open the stage first.')
  }
  const { settlement, isContinuing, eligibleMinor, floorMinor } = await settleClient(deps, input.clientId, {
    by: 'manual',
    operator: input.operator,
  })
  if (settlement || isContinuing) return { settlement, isContinuing }
  const { pendingMinor, availableMinor } = await getBalance(deps, input.clientId)
  const openMinor = less(pendingMinor, less(eligibleMinor, availableMinor))
  throw invalid(
    `nothing to settle: ${eligibleMinor} IDR are eligible, the floor is ${floorMinor} IDR and must be exceeded`,
    undefined,
    openMinor === 0
      ? 'Nothing else is open.'
      : `${openMinor} IDR are not eligible yet: a payment is, 24 hours after it was paid and once the provider has settled it. get-books shows what is open.`,
  )
}
