import { text } from '../../support/recount/books.ts'
import type { Observations } from '../watching/observations.ts'
import { rowsOf, suspenseRow } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import { watchAcknowledged } from './watch-acknowledged.ts'
import { watchClosing } from './watch-closing.ts'
import { watchDuties } from './watch-duties.ts'
import { watchFees } from './watch-fees.ts'
import { watchOrphans } from './watch-orphans.ts'
import { watchPushClaims, watchPushes } from './watch-pushes.ts'
import { watchSettling } from './watch-settling.ts'

/** Whatever the gateway has promised of money, destinations and duties, watched as it happens; the rest once all rests. */
export const watchPromises = (world: World, seen: Observations): (() => readonly string[]) => {
  watchClosing(world, seen)
  watchAcknowledged(world, seen)
  watchPushClaims(world, seen)
  watchDuties(world, seen)
  const atRest = [
    watchSettling(world, seen),
    watchFees(world),
    watchOrphans(world, seen),
    watchPushes(world),
    watchStrangeRows(world),
  ]
  return () => atRest.flatMap((problems) => problems())
}

/** Answers, once everything rests, which rows beside a payment's own operators were not told of. */
const watchStrangeRows = (world: World) => (): readonly string[] => {
  const payments = new Map(rowsOf(world, 'PAYMENT').map((item) => [text(item, 'credited_provider_payment_id'), item]))
  return world.strangeRows.flatMap(({ providerPaymentId, cause }) => {
    const payment = payments.get(providerPaymentId)
    if (payment?.['status'] !== 'succeeded' || payment['is_void'] === true) return []
    const isTold = suspenseRow(world, `${text(payment, 'pk').slice('PAYMENT#'.length)}#${cause}`) !== undefined
    return isTold ? [] : [`nobody was told by a row of ${providerPaymentId}: ${cause}`]
  })
}
