import * as v from 'valibot'
import type { Client } from '../client/client.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { assertInvariant, refused } from '../errors.ts'
import { type ClientId, type SettlementId, SettlementIdSchema, timeOrderedUuid } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { startOfBookDay } from '../journal/day-totals.ts'
import { assertBalanced } from '../journal/entry.ts'
import { entryPages } from '../journal/read-entries.ts'
import { raiseFence, VISIBLE_AFTER_MS } from '../ledger/fence-store.ts'
import { getBalance } from '../ledger/ledger-store.ts'
import { readWindow, sweepWindow, type Window } from '../ledger/window-store.ts'
import { less, type Minor } from '../money.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import {
  type AssumeDeps,
  type OpenRow,
  OpenRowSchema,
  postOverduePayments,
} from '../posting/assume-fee.ts'
import { toItem } from '../table/attributes.ts'
import type { Steps } from '../table/table.ts'
import { addMs, DAY_MS, epochMs, later, MINUTE_MS, SECOND_MS, type Timestamp } from '../time.ts'
import { askForAudit } from '../verdict/verdict-store.ts'
import { sendAnnouncement } from '../webhook/delivery/announce.ts'
import { announcementOfSettlement } from './announce-settlement.ts'
import { ELIGIBLE_AGE_MS, isLong, type Settlement } from './settlement.ts'
import {
  dropProgress,
  findSettlements,
  keepProgress,
  keptProgress,
  putSettlement,
} from './settlement-store.ts'
import { type EntrySums, emptySums, type SumDeps, sumEntries, sumFirstPage } from './sum-entries.ts'

type SettleResult = {
  readonly settlement: Settlement | undefined
  /** The queue has a message for the next run. */
  readonly isContinuing: boolean
  /** The eligible net with re-credits and deductions does not exceed the floor. */
  readonly waiting?: { readonly eligibleMinor: Minor; readonly floorMinor: Minor }
}

const LEFT_TO_NEXT_RUN: SettleResult = { settlement: undefined, isContinuing: true }

type SettleDeps = AssumeDeps & SumDeps & RecordDeps & Pick<Deps, 'queues' | 'randomBytes'>

type SettleTrigger = {
  /** Absent for the sweep. A manual trigger gets an audit record. */
  readonly operator?: string | undefined
  /** Later runs keep the id of the operator's invocation for the audit record. */
  readonly requestId?: string | undefined
}

/**
 * Settles one client (spec 3.2; design section 4, "Sweep and settle"). Each posted entry is in
 * exactly one settlement, and a settlement's sums are those of its entries. The fence closes the
 * window before its entries are read. One transaction records the settlement, if the window's start
 * is unchanged. So a crash leaves nothing half done, and of two callers one settles. Throws 404 for
 * an unknown client.
 */
export async function settleClient(
  deps: SettleDeps,
  clientId: ClientId,
  { overdueAfter, ...trigger }: SettleTrigger & { readonly overdueAfter?: OpenRow | undefined },
) {
  const lastAsked = await postOverduePayments(deps, clientId, overdueAfter)
  // Of a chain of runs only the first and the last settle: each settlement is a transfer.
  const isBetween = overdueAfter !== undefined && lastAsked !== undefined
  const result = isBetween ? LEFT_TO_NEXT_RUN : await settleWindow(deps, clientId, trigger)
  // One message for both reasons: two messages would double with each run.
  const isContinuing = lastAsked !== undefined || result.isContinuing
  if (isContinuing) {
    const { operator, requestId: request_id } = trigger
    const overdue_after = lastAsked && toItem(lastAsked)
    const body = { client_id: clientId, operator, request_id, overdue_after }
    await deps.queues.send('settlements', { body, delaySeconds: 0, group: clientId })
  }
  return { ...result, isContinuing }
}

/** A sweep and a trigger may run at the same time. The later run starts at the moved window. */
const MAX_TRIES = 4

async function settleWindow(deps: SettleDeps, clientId: ClientId, trigger: SettleTrigger) {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const result = await settleOnce(deps, clientId, trigger)
    if (result) return result
  }
  throw new Error('a settlement window kept moving while it was swept')
}

/** Undefined when another run has moved the window. */
async function settleOnce(deps: SettleDeps, clientId: ClientId, trigger: SettleTrigger) {
  const { settlementFloorMinor: floorMinor } = await requireClient(deps, clientId)
  const window = await readWindow(deps, clientId)
  const progress = keptProgress(window)
  const end = later(addMs(deps.now(), 1), progress?.end ?? window.settledUntil)
  const span = { start: window.settledUntil, end }
  const leaveWaiting = (eligibleMinor: Minor): SettleResult => {
    deps.log.info('settlement.waiting', { client_id: clientId })
    return { settlement: undefined, isContinuing: false, waiting: { eligibleMinor, floorMinor } }
  }
  const pageMinor = await sumFirstPage(deps, { clientId, span })
  if (pageMinor !== undefined && pageMinor <= floorMinor) {
    // The daily sweep closes the days that are over of every client (design section 12).
    if (trigger.operator === undefined) await raiseFence(deps, clientId, startOfBookDay(deps.now()))
    return leaveWaiting(pageMinor)
  }

  await raiseFence(deps, clientId, end)
  await deps.sleep(VISIBLE_AFTER_MS)
  await requirePreviousSettlement(deps, window)
  const settlementId = progress?.settlementId ?? newSettlementId(deps)
  const { sums, position, isWhole } = await sumEntries(
    deps,
    { clientId, span },
    progress ?? { sums: emptySums(settlementId) },
  )
  if (!isWhole) {
    // Refused when another run was faster. This run has no time to sum again.
    await keepProgress(deps, clientId, window, { settlementId, sums, position, end })
    deps.log.info('settlement.summing', { client_id: clientId, payments: sums.paymentCount })
    return LEFT_TO_NEXT_RUN
  }
  // Read again, because summing can take minutes: the record has the current floor and bank
  // details.
  const client = await requireClient(deps, clientId)
  if (sums.netMinor <= client.settlementFloorMinor) return leaveWaiting(sums.netMinor)
  const summed = { settlementId, client, window, end, sums }
  const settlement = await recordSettlement(deps, summed, trigger)
  return settlement && { settlement, isContinuing: false }
}

/** If a restore has lost the previous settlement, a recount moves the window back before it. */
async function requirePreviousSettlement(deps: SettleDeps, { lastSettlementId: id }: Window) {
  const [previous] = id === undefined ? [] : await findSettlements(deps, [id])
  assertInvariant(previous?.settlementId === id, 'the previous settlement of a client is missing')
}

/**
 * Chosen before the sum, because the digest begins with it. So a settlement whose write got no
 * answer is found by its id.
 */
function newSettlementId(deps: Pick<Deps, 'now' | 'randomBytes'>) {
  return v.parse(SettlementIdSchema, timeOrderedUuid(epochMs(deps.now()), deps.randomBytes(10)))
}

type SummedSettlement = {
  readonly settlementId: SettlementId
  readonly client: Client
  readonly window: Window
  readonly end: Timestamp
  readonly sums: EntrySums
}

/**
 * Writes the settlement of a summed window with the current bank details and moves the window, in
 * one transaction. A manual trigger adds the operator's audit record. Undefined when another
 * settlement has moved the window.
 */
async function recordSettlement(
  deps: SettleDeps,
  { settlementId, client: { clientId, bank }, window, end, sums }: SummedSettlement,
  { operator, requestId }: SettleTrigger,
) {
  const settlement: Settlement = {
    settlementId,
    clientId,
    sweptFrom: window.settledUntil,
    sweptUntil: end,
    ...sums,
    currency: 'IDR',
    status: 'recorded',
    triggeredBy: operator === undefined ? 'auto' : 'manual',
    previousId: window.lastSettlementId,
    bank,
    createdAt: deps.now(),
  }
  assertBalanced(settlement)
  const announcement = await announcementOfSettlement(deps, settlement, settlement.createdAt)
  const { steps: announced, freshUntil } = announcement
  const steps: Steps<string> = {
    window: sweepWindow(settlement),
    settlement: putSettlement(settlement),
    ...announced,
  }
  const after = { status: settlement.status, net_minor: settlement.netMinor, client_id: clientId }
  const action = 'trigger-settlement'
  const change = { requestId, subject: settlementId, clientId, action, after, freshUntil }
  const outcome =
    operator === undefined
      ? await deps.table.transact(steps, freshUntil)
      : await recordChange(deps, { ...change, operator }, steps)
  if (!outcome.applied) {
    // Another run that continued this sum may have recorded its settlement under the same id.
    const [stored] = await findSettlements(deps, [settlementId])
    // After a restore: an announced settlement is lost, and its window is summed under another id.
    if (!stored && outcome.refusedBy === 'event') await dropProgress(deps, clientId, window)
    const isOurs = stored?.createdAt === settlement.createdAt && stored.digest === settlement.digest
    if (!isOurs) return undefined
  }
  await sendAnnouncement(deps, announcement)
  if (isLong(deps, settlement))
    await askForAudit(deps, clientId, { delaySeconds: MINUTE_MS / SECOND_MS })
  const ids = { settlement_id: settlementId, client_id: clientId }
  if (bank === undefined) deps.log.warn('settlement.without_bank', ids)
  const { paymentCount: payments, netMinor: net_minor, triggeredBy: triggered_by } = settlement
  deps.log.info('settlement.recorded', { ...ids, payments, net_minor, triggered_by })
  return settlement
}

/**
 * Settles a client at an operator's request, by the same rules and floor as the sweep (spec 3.2,
 * rule 4). Throws 422 in a closed stage. Throws 422 when there is nothing to settle and no run
 * follows, with the eligible amount, the open amount and the floor.
 */
export async function triggerSettlement(
  deps: SettleDeps,
  { clientId, operator }: { readonly clientId: ClientId; readonly operator: string },
): Promise<SettleResult> {
  if (deps.stage.isClosed === true) {
    throw refused('the stage is closed', 'Recount the ledgers, and open the stage first.')
  }
  const result = await settleClient(deps, clientId, {
    operator,
    requestId: deps.invocation?.requestId,
  })
  if (result.waiting === undefined || result.isContinuing) return result
  const { eligibleMinor, floorMinor } = result.waiting
  const { pendingMinor, availableMinor } = await getBalance(deps, clientId)
  const openMinor = less(pendingMinor, less(eligibleMinor, availableMinor))
  throw refused(
    `nothing to settle: ${eligibleMinor} IDR are eligible, the floor is ${floorMinor} IDR and must be exceeded`,
    openMinor === 0
      ? 'Nothing else is open.'
      : `${openMinor} IDR are not eligible yet. A payment is eligible 24 hours after it was paid, if the provider has settled it.${await nextText(deps, clientId)}`,
  )
}

/** When the client's next money becomes eligible. Empty without open money. */
async function nextText(deps: SettleDeps, clientId: ClientId) {
  const now = deps.now()
  // A posted payment waits for its day at most.
  const span = { start: addMs(now, 1), end: addMs(now, 2 * DAY_MS) }
  for await (const { entries } of entryPages(deps, { clientId, span, limit: 1 })) {
    const [entry] = entries
    if (entry) return ` The next payment is eligible at ${entry.eligibleAt}.`
  }
  const { items } = await deps.table.query({ index: 'by-open', partition: [clientId], limit: 1 })
  const open = ifValid(OpenRowSchema, items[0])
  if (open === undefined) return ''
  const at = later(now, addMs(open.openAt, ELIGIBLE_AGE_MS))
  return ` The next payment is eligible at ${at} at the earliest: the provider has not settled it.`
}
