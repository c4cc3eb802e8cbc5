import * as v from 'valibot'
import { ifValid } from '../if-valid.ts'
import { newestShown, shownMoney } from '../payment/held-money.ts'
import type { Payment } from '../payment/payment.ts'
import { shownDispute } from '../suspense/dispute.ts'
import { NotedSchema, SuspenseSchema } from '../suspense/suspense.ts'
import { notedItems } from '../suspense/suspense-store.ts'
import { suspenseKey } from '../table/keys.ts'
import type { Difference } from '../verdict/difference.ts'
import type { RecountDeps } from './plan.ts'

const SHOWN = /^payment\.(held|dispute)$/

export function isOfShown({ what }: Difference) {
  return SHOWN.test(what)
}

/**
 * The payment with what it shows of suspense, derived from its items as the plan of suspense leaves
 * them: an item's row in the register counts.
 */
export async function withShown(
  deps: RecountDeps,
  payment: Payment,
  differences: readonly Difference[],
) {
  const { paymentId, clientId, dispute } = payment
  const rows = await notedItems(deps, clientId)
  const notes = rows
    .flatMap((row) => ifValid(NotedSchema, row) ?? [])
    .filter((note) => note.paymentId === paymentId)
  const shownIds = [...notes, ...(payment.held ?? [])].map(({ suspenseId }) => suspenseId)
  const missingIds = differences.filter(isOfShown).map(({ expected }) => String(expected))
  const ids = [...new Set([...shownIds, ...missingIds])]
  const stored = await deps.table.getMany(ids.map(suspenseKey))
  const shown = ids.flatMap((id, at) => {
    const note = notes.find(({ suspenseId }) => suspenseId === id)
    const item = ifValid(SuspenseSchema, stored[at])
    if (!item && !note) return []
    // The item comes back with its resolution, which its row in the register does not have.
    const known = item ? undefined : payment.held?.find(({ suspenseId }) => suspenseId === id)
    return known ?? shownMoney(v.parse(SuspenseSchema, { status: 'open', ...item, ...note })) ?? []
  })
  const held = newestShown(shown.filter(({ at }) => at >= payment.createdAt))
  const disputed = dispute && (await deps.table.get(suspenseKey(dispute.caseId)))
  const item = ifValid(SuspenseSchema, disputed)
  // Its case comes back with what the payment shows.
  const isNoted = notes.some(({ suspenseId }) => suspenseId === dispute?.caseId)
  return {
    ...payment,
    held: held.length > 0 ? held : undefined,
    dispute: dispute && (item ? shownDispute(item) : isNoted ? dispute : undefined),
  }
}
