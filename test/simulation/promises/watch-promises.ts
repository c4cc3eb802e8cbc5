import { type RawItem, text } from '../../support/recount/books.ts'
import type { Observations } from '../watching/observations.ts'
import { APART_MS } from '../watching/rules.ts'
import { paymentRow, rowsOf, suspenseRow } from '../world/rows.ts'
import { CALLBACK_TOKEN, type World } from '../world/world.ts'
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
    return isTold ? [] : [`no row of ${providerPaymentId} reports ${cause}`]
  })
}

/** A payment that waits for another look has had it by then. */
const SOON_MS = 2 * 60_000

type Announced = { readonly paymentId: string; readonly capturedId: string }

/** The money that a callback tells of. */
const announcedBy = (body: string): Announced | undefined => {
  const { event, data } = Object(JSON.parse(body))
  if (!/^payment\.(capture|succeeded)$/.test(String(event))) return undefined
  const { payment_id: capturedId, reference_id: reference } = Object(data)
  return { paymentId: String(reference).slice(0, 36), capturedId: String(capturedId) }
}

const isLookedAtSoon = ({ scheduler }: World, payment: RawItem): boolean =>
  payment['work'] === 'payment' && Date.parse(text(payment, 'due_at')) <= scheduler.nowMs() + SOON_MS + APART_MS

/** A callback is not repeated after a 2xx: by then its money is credited or held, or a worker looks soon. */
const watchAcknowledged = (world: World, seen: Observations): void => {
  world.onCallback.push((body, token, status) => {
    if (status < 500 && (status === 401) !== (token !== CALLBACK_TOKEN))
      seen.problems.push(`a callback with ${token === CALLBACK_TOKEN ? 'the' : 'a wrong'} token is answered ${status}`)
    const announced = status < 300 ? announcedBy(body) : undefined
    if (announced === undefined) return
    if (world.faults.providerBehind > 0 || world.faults.providerStale > 0) return
    const { paymentId, capturedId } = announced
    const isMoney = world.provider.capturedPayments().some(({ id }) => id === capturedId)
    if (!isMoney || world.unseenUntilMs.has(capturedId)) return
    const payment = paymentRow(world, paymentId)
    const isCredited = payment?.['credited_provider_payment_id'] === capturedId
    const isHeld = suspenseRow(world, capturedId) !== undefined
    if (isCredited || isHeld || (payment && isLookedAtSoon(world, payment))) return
    seen.problems.push(`the callback of ${capturedId} is acknowledged, and it is neither credited nor held`)
  })
}
