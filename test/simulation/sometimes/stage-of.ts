import { type RawItem, text } from '../../support/recount/books.ts'
import { rowsOf } from '../world/rows.ts'
import { DAY_MS } from '../world/rules.ts'
import type { World } from '../world/world.ts'

/** The stage of a payment when money of it is reversed, or returns after a won dispute. */
export const STAGES = ['open', 'posted', 'recorded', 'failed', 're-credited', 'paid out'] as const

/** The time from which the payment's own entry can be settled. */
const eligibleAt = (payment: RawItem): string => {
  const aDayOld = new Date(Date.parse(text(payment, 'paid_at')) + DAY_MS).toISOString()
  const postedAt = text(payment, 'posted_at')
  return postedAt > aDayOld ? postedAt : aDayOld
}

/** The settlement that contains the payment's own entry; undefined before there is one. */
export const settlementOf = (world: World, payment: RawItem): RawItem | undefined => {
  if (text(payment, 'posted_at') === '') return undefined
  const at = eligibleAt(payment)
  return rowsOf(world, 'SETTLEMENT', { client_id: payment['client_id'] }).find(
    (settlement) => text(settlement, 'swept_from') <= at && at < text(settlement, 'swept_until'),
  )
}

export const stageOf = (world: World, payment: RawItem): (typeof STAGES)[number] => {
  if (text(payment, 'posted_at') === '') return 'open'
  const settlement = settlementOf(world, payment)
  if (settlement === undefined) return 'posted'
  if (settlement['status'] === 'recorded') return 'recorded'
  if (settlement['status'] === 'manual_paid') return 'paid out'
  return settlement['recredited_at'] === undefined ? 'failed' : 're-credited'
}
