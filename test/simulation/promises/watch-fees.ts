import { amount, type RawItem, text } from '../../support/recount/books.ts'
import { ms } from '../watching/rules.ts'
import { HELD_MS, isFinal, isVoidedOpen } from '../watching/watch-fee-fields.ts'
import { rowsOf } from '../world/rows.ts'
import type { World } from '../world/world.ts'

/** The next sweep, and time for it. */
const SWEEP_MS = 25 * 3_600_000

/** What the provider kept of each captured payment, by its own settled rows. */
const keptBy = ({ provider }: World): ReadonlyMap<string, number> =>
  new Map(
    provider
      .rowsAsTheyStand()
      // Rows that are about another amount or currency say nothing of it; they are not captures of the provider's.
      .filter(({ row }) => row.type === 'PAYMENT' && row.settlement_status === 'SETTLED' && row.product_data !== null)
      .map(({ row }) => [row.product_id, row.amount - row.net_amount]),
  )

/** Of one that is shown and settled. */
const isShown = ({ provider, unshownRows }: World, { credited_provider_payment_id: id }: RawItem): boolean =>
  !unshownRows.has(String(id)) &&
  provider
    .rowsAsTheyStand()
    .some(
      ({ row, settleAtMs }) =>
        row.product_id === id &&
        settleAtMs === undefined &&
        row.status === 'SUCCESS' &&
        row.settlement_status === 'SETTLED',
    )

const feeProblems = (
  world: World,
  payment: RawItem,
  kept: ReadonlyMap<string, number>,
  isTold: (cause: string) => boolean,
): readonly string[] => {
  const pk = text(payment, 'pk')
  const isLate = world.scheduler.nowMs() > ms(payment, 'paid_at') + HELD_MS + SWEEP_MS
  const feeMinor = amount(payment, 'provider_fee_minor')
  const keptMinor = kept.get(text(payment, 'credited_provider_payment_id'))
  if (!isFinal(payment)) return isLate ? [`${pk}: its fee is neither final nor assumed by its day`] : []
  if (payment['fee_status'] !== 'assumed')
    return world.providerFees === 'invoiced' || keptMinor === feeMinor
      ? []
      : [`${pk}: a fee of ${feeMinor}, and the provider kept ${keptMinor}`]
  if (isVoidedOpen(payment)) return []
  if (!isTold('fee_assumed') && !isTold('transaction_missing'))
    return [`${pk}: operators were not told of a fee that was assumed`]
  if (keptMinor === undefined || !isShown(world, payment)) return []
  if (payment['late_row_at'] === undefined) return [`${pk}: the row that came late is not booked`]
  return keptMinor !== feeMinor && !isTold('fee_changed')
    ? [`${pk}: operators were not told of a fee that was another one`]
    : []
}

/** Answers, once everything rests, which fees are late, made up or not told of. */
export const watchFees = (world: World) => (): readonly string[] => {
  const kept = keptBy(world)
  const told = new Set(world.table.items('SUSPENSE#').map(({ pk }) => String(pk)))
  return rowsOf(world, 'PAYMENT')
    .filter(({ status }) => status === 'succeeded')
    .flatMap((payment) => {
      const id = text(payment, 'pk').slice('PAYMENT#'.length)
      return feeProblems(world, payment, kept, (cause) => told.has(`SUSPENSE#${id}#${cause}`))
    })
}
