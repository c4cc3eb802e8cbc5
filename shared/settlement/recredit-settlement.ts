import { chunks } from '../chunks.ts'
import { invalid } from '../errors.ts'
import { recordChange } from '../operator/audit-record-store.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { findAllSuspense, leaveOut } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import { type Close, type CloseDeps, statusRecord, wrongState } from './close-settlement.ts'
import type { Settlement } from './settlement.ts'
import { findAnySettlement, markRecredited } from './settlement-store.ts'
import { recreditStep } from './window-store.ts'

/** Of another operator, or of money that goes back, at the same moment. */
const MAX_TRIES = 4

/** A transaction has a hundred steps. */
const MOST_LEFT_OUT = 90

/** What its client would owe for payments that a re-credit leaves out, unless this one has closed it already. */
const receivablesOf = async (
  deps: CloseDeps,
  { settlementId, receivableIds }: Settlement,
): Promise<readonly Suspense[]> => {
  const items = await findAllSuspense(deps, [...(receivableIds ?? [])])
  return items.filter(({ leftOutBy }) => leftOutBy !== settlementId)
}

const leftOutSteps = (items: readonly Suspense[], by: string, now: Timestamp): Steps<string> =>
  Object.fromEntries(items.map((item) => [item.suspenseId, leaveOut(item, by, now)]))

/** Closes what one transaction with the re-credit has no room for. False: somebody else has closed some of it meanwhile. */
const closeAhead = async (
  deps: CloseDeps,
  items: readonly Suspense[],
  { settlementId }: Settlement,
): Promise<boolean> => {
  for (const some of chunks(items, MOST_LEFT_OUT)) {
    const { applied } = await deps.table.transact(leftOutSteps(some, settlementId, deps.now()))
    if (!applied) return false
  }
  return true
}

/**
 * Puts the net of a failed settlement back to available, once: settlement and window in one transaction. The next
 * sweep or trigger records it again. What is owed for payments that it leaves out is closed with it; of more than fit, the
 * rest is closed before, since what has failed pays nobody: a process that dies in between is followed by the next try.
 */
export const recreditSettlement = async (
  deps: CloseDeps,
  input: Close & { readonly notes: string },
): Promise<Settlement> => {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const settlement = await findAnySettlement(deps, input.settlementId)
    if (settlement.status !== 'failed') throw wrongState('recredited', settlement)
    if (settlement.recreditedAt !== undefined) throw recreditedAlready()
    const owed = await receivablesOf(deps, settlement)
    if (!(await closeAhead(deps, owed.slice(0, -MOST_LEFT_OUT), settlement))) continue
    const now = deps.now()
    const recredited: Settlement = { ...settlement, recreditedAt: now }
    const record = {
      subject: settlement.settlementId,
      clientId: settlement.clientId,
      operator: input.operator,
      action: 'recredit-settlement',
      before: statusRecord(settlement),
      after: { ...statusRecord(recredited), notes: input.notes },
    }
    const { applied } = await recordChange(deps, record, {
      settlement: markRecredited(settlement, now),
      window: recreditStep(settlement, now),
      ...leftOutSteps(owed.slice(-MOST_LEFT_OUT), settlement.settlementId, now),
    })
    if (applied) return recredited
  }
  throw new Error('a settlement kept changing while it was recredited')
}

const recreditedAlready = () =>
  invalid('settlement was recredited already', undefined, 'Its funds are in available until the next settlement.')
