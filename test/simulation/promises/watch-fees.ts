import { amount, type RawItem, text } from '../../support/recount/books.ts'
import type { Observations } from '../watching/observations.ts'
import type { World } from '../world/world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** So long the provider has time to say what it kept. */
const HELD_MS = 7 * DAY_MS
/** The next sweep, and time for it. */
const SWEEP_MS = 25 * HOUR_MS
/** How far machines' clocks are off at most. */
const CLOCK_MS = 10_000

const isFinal = ({ fee_status: status }: RawItem) => status === 'actual' || status === 'assumed'
/** It left open void: no fee of it is known, or needed. */
const isVoidedOpen = ({ voided_open: isVoid }: RawItem) => isVoid === true

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

const FEE_FIELDS = ['fee_status', 'provider_fee_minor', 'net_minor', 'markup_minor', 'notional_minor'] as const

/**
 * Checked at every write: a fee is final once and moves no more, nobody assumes one before the provider has had its seven
 * days, and net = notional - fee - markup. Answers, once everything rests, which fees are late, made up or not told of.
 */
export const watchFees = (world: World, seen: Observations): (() => readonly string[]) => {
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || after?.['status'] !== 'succeeded') return
    if (
      amount(after, 'net_minor') !==
      amount(after, 'notional_minor') - amount(after, 'provider_fee_minor') - amount(after, 'markup_minor')
    )
      seen.problems.push(`${key.pk}: its net is not what its fees leave`)
    if (before?.['status'] !== 'succeeded') return
    if (isFinal(before) && FEE_FIELDS.some((field) => before[field] !== after[field]))
      seen.problems.push(`${key.pk}: a final fee has moved`)
    const isAssumed = before['fee_status'] !== 'assumed' && after['fee_status'] === 'assumed'
    const dueMs = Date.parse(text(after, 'paid_at')) + HELD_MS - CLOCK_MS
    if (isAssumed && !isVoidedOpen(after) && world.scheduler.nowMs() < dueMs)
      seen.problems.push(`${key.pk}: its fee was assumed before its seven days`)
  })

  return () => {
    const kept = keptBy(world)
    const told = new Set(world.table.items('SUSPENSE#').map(({ pk }) => String(pk)))
    const nowMs = world.scheduler.nowMs()
    return world.table.items('PAYMENT#').flatMap((payment) => {
      if (payment['sk'] !== 'PAYMENT' || payment['status'] !== 'succeeded') return []
      const [pk, id] = [text(payment, 'pk'), text(payment, 'pk').slice('PAYMENT#'.length)]
      const isLate = nowMs > Date.parse(text(payment, 'paid_at')) + HELD_MS + SWEEP_MS
      if (!isFinal(payment)) return isLate ? [`${pk}: its fee is neither final nor assumed by its day`] : []
      if (payment['fee_status'] === 'assumed') {
        const isTold = (cause: string) => told.has(`SUSPENSE#${id}#${cause}`)
        if (isVoidedOpen(payment)) return []
        if (!isTold('fee_assumed') && !isTold('transaction_missing'))
          return [`${pk}: operators were not told of a fee that was assumed`]
        const shownMinor = isShown(world, payment) ? kept.get(text(payment, 'credited_provider_payment_id')) : undefined
        if (shownMinor !== undefined && payment['late_row_at'] === undefined)
          return [`${pk}: the row that came late is not booked`]
        const isOtherwise = shownMinor !== undefined && shownMinor !== amount(payment, 'provider_fee_minor')
        return isOtherwise && !isTold('fee_changed')
          ? [`${pk}: operators were not told of a fee that was another one`]
          : []
      }
      if (world.providerFees === 'invoiced') return []
      const provider = kept.get(text(payment, 'credited_provider_payment_id'))
      return provider === amount(payment, 'provider_fee_minor')
        ? []
        : [`${pk}: a fee of ${amount(payment, 'provider_fee_minor')}, and the provider kept ${provider}`]
    })
  }
}
