import * as v from 'valibot'
import { derivedTotals, readHouse, totalOf } from '../audit/judged/audit-journal.ts'
import { derivedItem, resolvedIn } from '../audit/judged/audit-suspense.ts'
import { readTrail } from '../audit/judged/audit-trails.ts'
import { rowDifferences } from '../audit/rows/row-differences.ts'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { bookDay } from '../journal/day-totals.ts'
import { type HouseEntry, putHouseEntry } from '../journal/house-store.ts'
import { plus, ZERO } from '../money.ts'
import type { AuditRecord } from '../operator/audit-record-store.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { OPERATOR_RESOLUTIONS, resolutionEntry } from '../posting/resolve-suspense.ts'
import { endOf, usualAnswerBy } from '../suspense/dispute.ts'
import {
  heldAmountOf,
  isMoved,
  type Noted,
  NotedSchema,
  type Suspense,
  SuspenseSchema,
} from '../suspense/suspense.ts'
import { dueForAlert, suspenseRow } from '../suspense/suspense-store.ts'
import { houseTotalKey, notedKey, suspenseKey } from '../table/keys.ts'
import { replaceRow } from '../table/replace-row.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { TimestampSchema } from '../time.ts'
import { unacceptedDifferences, withSince } from '../verdict/acceptances.ts'
import { type Difference, missingRow } from '../verdict/difference.ts'
import { readVerdict } from '../verdict/verdict-store.ts'
import type { Plan, RecountDeps, Write } from './plan.ts'
import { unapprovedRefund } from './unapproved.ts'

/**
 * Plans suspense that differs: the item is its row in the register, its entries in the house
 * journal and its trail. So an item that is lost or unreadable comes back as it was born, with what
 * happened to it.
 */
export async function planSuspense(
  deps: RecountDeps,
  differences: readonly Difference[],
  clientId: string | undefined,
): Promise<Plan> {
  const named = differences.filter(({ what }) => /^(suspense|noted)(\.|$)/.test(what))
  if (named.length === 0) return []
  const { entries } = await readHouse(deps)
  const plans = await Array.fromAsync(
    Map.groupBy(named, ({ id }) => id),
    ([id, ends]) => planItem(deps, { id, clientId, ends }, entries),
  )
  return plans.flat()
}

type Named = {
  readonly id: string
  readonly clientId: string | undefined
  readonly ends: readonly Difference[]
}

async function planItem(
  deps: RecountDeps,
  { id, clientId, ends }: Named,
  allEntries: readonly HouseEntry[],
): Promise<Plan> {
  const [stored, register, { records }] = await Promise.all([
    deps.table.get(suspenseKey(id)),
    deps.table.get(notedKey({ clientId, suspenseId: id })),
    readTrail(deps, id, clientId),
  ])
  const [item, noted] = [ifValid(SuspenseSchema, stored), ifValid(NotedSchema, register)]
  const born = noted ?? (register === undefined ? item : undefined)
  // No readable row, or an item of another client.
  if (born === undefined || born.clientId !== clientId) return []
  const entries = allEntries.filter(({ suspenseId }) => suspenseId === id)
  const source = item ? { ...item, ...v.parse(NotedSchema, born) } : await bornItem(deps, born)
  const booked = derivedItem(source, entries, [])
  const resolved = resolutionOf(source, entries, records)
  const after: Suspense = { ...booked, ...resolved }
  const isByOperator = resolved !== undefined
  const own = entries.find(({ type }) => type === 'suspense_resolved')
  const needsEntry = isByOperator && after.kind === 'money' && own === undefined
  // The day of the resolution may be closed by now.
  const entry = needsEntry ? resolutionEntry(booked, after.resolution, deps.now()) : undefined
  const heldMinor = [...entries, ...(entry ? [entry] : [])].reduce(
    (sum, { suspenseMinor }) => plus(sum, suspenseMinor),
    ZERO,
  )
  if (after.kind === 'money' && heldMinor !== heldAmountOf(after)) return []
  const left = await unapprovedRefund(deps, after)
  if (left.length > 0) return left
  const dueAt = ifValid(TimestampSchema, stored?.['dueAt'])
  // A lost item, and one that is open again, is told, but not what an operator resolved.
  const isNews = item ? item.status !== 'open' && after.status === 'open' : !isByOperator
  const row = suspenseRow(isNews ? dueForAlert(after) : { ...after, dueAt })
  const changes = rowDifferences('suspense', id, row, stored)
  const isUnrecorded = isByOperator && !records.some(({ action }) => action === 'resolve-suspense')
  const said = { status: after.status, resolution: after.resolution, notes: after.notes ?? null }
  const write: Write = {
    subject: id,
    clientId,
    repair: isUnrecorded ? 'trail' : 'put',
    lines: [
      ...changes,
      ...(noted ? [] : missingRow('noted', id)),
      ...(entry ? missingRow('house_entry', id) : []),
      ...(isUnrecorded ? missingRow('audit_record', id) : []),
    ],
    ends,
    record: isUnrecorded ? { action: 'resolve-suspense', after: said } : undefined,
    steps: {
      item: changes.length > 0 ? replaceRow(suspenseKey(id), row, stored) : undefined,
      noted: noted
        ? undefined
        : replaceRow(notedKey(after), v.parse(NotedSchema, after), undefined),
      ...(entry && putHouseEntry(entry)),
    },
  }
  return write.lines.length === 0 ? [] : [write]
}

/** A payment shows the state of its newest dispute. An older dispute starts as unanswered. */
async function bornItem(deps: RecountDeps, noted: Noted): Promise<Suspense> {
  const explained = { status: 'resolved', resolution: 'explained' } as const
  if (noted.cause !== 'dispute')
    return { ...noted, ...(isMoved(noted) ? explained : { status: 'open' }) }
  const paymentId = ifValid(PaymentIdSchema, noted.paymentId)
  const [payment] = paymentId ? await findPaymentsByKey(deps, [paymentId]) : []
  const said = payment?.dispute?.caseId === noted.suspenseId ? payment.dispute : undefined
  const { state = 'action_required', answerBy = usualAnswerBy(noted.createdAt) } = said ?? {}
  return { ...noted, state, answerBy, ...endOf({ state }) }
}

/** Whichever of record, entry and item shows the operator's resolution. */
function resolutionOf(
  item: Suspense,
  entries: readonly HouseEntry[],
  records: readonly AuditRecord[],
) {
  const { status, resolution, notes } = item
  // The provider may ask again after an operator's record. One alert too many loses no dispute.
  const isAsked = item.kind === 'case' && status === 'open' && item.state === 'action_required'
  const recorded = isAsked ? undefined : resolvedIn(records)
  if (recorded) return recorded
  const own = entries.find(({ type }) => type === 'suspense_resolved')
  const byEntry = own?.bankMinor === 0 ? 'written_off' : 'refunded_by_bank'
  if (own) return { status: 'resolved', resolution: byEntry, notes } as const
  const isByOperator = OPERATOR_RESOLUTIONS.some((one) => one === resolution) && !isMoved(item)
  return status === 'resolved' && isByOperator ? { status, resolution, notes } : undefined
}

/** Plans the totals of the house journal. None while an entry differs that is not accepted. */
export async function planTotals(
  deps: RecountDeps,
  differences: readonly Difference[],
): Promise<Plan> {
  const named = differences.filter(({ what }) => /^house_total(\.|$)/.test(what))
  const altered = differences.filter(({ what }) => what.startsWith('house_entry'))
  const { standing } = await readVerdict(deps, GATEWAY_OWNER)
  const dated = withSince(altered, standing, deps.now())
  const open = await unacceptedDifferences(deps, GATEWAY_OWNER, dated)
  if (named.length === 0 || open.length > 0) return []
  // Before the entries: a total that moves after this read refuses its write.
  const totals = await Array.fromAsync(
    Map.groupBy(named, ({ id }) => id),
    async ([id, ends]) => {
      const [day = '', type = ''] = id.split('#')
      const key = houseTotalKey(day, type)
      return { id, ends, key, found: await deps.table.get(key) }
    },
  )
  const derived = derivedTotals((await readHouse(deps)).entries)
  return totals.map(({ id, ends, key, found }): Write => {
    const closed = id < bookDay(deps.now()) ? found?.['closed'] : undefined
    const total = { ...(derived.get(id) ?? totalOf(id, [])), closed }
    const steps = { total: replaceRow(key, total, found) }
    return { subject: id, clientId: undefined, repair: 'figures', lines: ends, ends, steps }
  })
}
