import { type RawItem, text } from '../../support/recount/books.ts'
import { count } from '../world/tally.ts'
import type { World } from '../world/world.ts'

/** What has become of a payment when its money goes back or comes again. */
const STAGES = ['open', 'posted', 'recorded', 'failed', 're-credited', 'paid out'] as const
type Stage = (typeof STAGES)[number]

const SIZES = ['whole', 'in part'] as const

/** Every way in which money may go back and come again: in many histories each must have happened. */
export const REVERSAL_CELLS: readonly string[] = [
  'voided whole',
  'reversed whole',
  'row voided',
  ...['refund', 'chargeback', 'dispute_won'].flatMap((kind) => SIZES.map((size) => `${kind} ${size}`)),
].flatMap((way) => STAGES.map((stage) => `reversal: ${way}, ${stage}`))

const DAY_MS = 86_400_000

/** When the payment's own entry may be settled. */
const eligibleAt = (payment: RawItem): string => {
  const aDayOld = new Date(Date.parse(text(payment, 'paid_at')) + DAY_MS).toISOString()
  const postedAt = text(payment, 'posted_at')
  return postedAt > aDayOld ? postedAt : aDayOld
}

/** The settlement that took a payment's own entry; undefined before it. */
export const settlementOf = ({ table }: World, payment: RawItem): RawItem | undefined => {
  if (text(payment, 'posted_at') === '') return undefined
  const at = eligibleAt(payment)
  return table
    .items('SETTLEMENT#')
    .find(
      (settlement) =>
        settlement['client_id'] === payment['client_id'] &&
        text(settlement, 'swept_from') <= at &&
        at < text(settlement, 'swept_until'),
    )
}

/** By the table's raw items, as they are at this moment. */
export const stageOf = (world: World, payment: RawItem): Stage => {
  if (text(payment, 'posted_at') === '') return 'open'
  const settlement = settlementOf(world, payment)
  if (settlement === undefined) return 'posted'
  if (settlement['status'] === 'recorded') return 'recorded'
  if (settlement['status'] === 'manual_paid') return 'paid out'
  return settlement['recredited_at'] === undefined ? 'failed' : 're-credited'
}

type Moved = { readonly type: string; readonly amountMinor: number; readonly isOwnRow?: boolean }

const movementsOf = (payment: RawItem): readonly Moved[] => (payment['movements'] ?? []) as readonly Moved[]

const wayOf = (payment: RawItem, { type, amountMinor, isOwnRow }: Moved): string => {
  if (type === 'reversal' && isOwnRow !== true) return 'row voided'
  if (type === 'reversal') return `${text(Object(payment['reversal']), 'kind')} whole`
  return `${type} ${amountMinor < Number(payment['notional_minor']) ? 'in part' : 'whole'}`
}

/** Counts each movement by how, how much and at which stage, at the moment our books have it. */
export const watchReversals = (world: World): void => {
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || before === undefined || after === undefined) return
    const moved = movementsOf(after).slice(movementsOf(before).length)
    for (const one of moved) count(world.tally, `reversal: ${wayOf(after, one)}, ${stageOf(world, before)}`)
  })
}
