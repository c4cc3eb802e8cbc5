import { isDeepStrictEqual } from 'node:util'
import {
  amount,
  booksOf,
  captureOf,
  clientOf,
  type RawItem,
  sum,
  text,
} from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import { HELD_MS, isFinal, isVoidedOpen, keptBy, settledRowOf } from '../watching/watch-payments.ts'
import { clientRow, entriesOf, paymentRow, rowsOf, suspenseRow } from '../world/rows.ts'
import { APART_MS, DAY_MS, ms, watchStates } from '../world/rules.ts'
import { CALLBACK_TOKEN, type World } from '../world/world.ts'
import { watchClosing, watchOrphans, watchPushes } from './watch-requests.ts'

/** Returns a check of the promises that hold at rest. */
export function watchPromises(world: World) {
  watchClosing(world)
  watchAcknowledged(world)
  const atRest = [watchSettling(world), watchFees(world), watchOrphans(world), watchPushes(world)]
  return () => atRest.flatMap((problems) => problems())
}

/** Due work checks a payment within this time. */
const SOON_MS = 2 * 60_000

/**
 * The provider does not repeat a callback after a 2xx: its money is credited or held then, or due
 * work checks it soon.
 */
function watchAcknowledged(world: World) {
  world.onCallback.push((body, token, status) => {
    if (status < 500 && (status === 401) !== (token !== CALLBACK_TOKEN))
      world.problems.push(
        `a callback with ${token === CALLBACK_TOKEN ? 'the' : 'a wrong'} token is answered ${status}`,
      )
    const announced = status < 300 ? announcedBy(body) : undefined
    if (announced === undefined) return
    if (world.faults.providerBehind > 0 || world.faults.providerStale > 0) return
    const { paymentId, capturedId } = announced
    const isMoney = world.provider.capturedPayments().some(({ id }) => id === capturedId)
    if (!isMoney || world.unseenUntilMs.has(capturedId)) return
    const payment = paymentRow(world, paymentId)
    const isCredited = captureOf(payment) === capturedId
    const isHeld = suspenseRow(world, capturedId) !== undefined
    const isCheckedSoon =
      payment?.['work'] === 'payment' &&
      ms(payment, 'due_at') <= world.scheduler.nowMs() + SOON_MS + APART_MS
    if (isCredited || isHeld || isCheckedSoon) return
    world.problems.push(
      `the callback of ${capturedId} is acknowledged, and it is neither credited nor held`,
    )
  })
}

function announcedBy(body: string) {
  const { event, data } = Object(JSON.parse(body))
  if (!/^payment\.(capture|succeeded)$/.test(String(event))) return undefined
  const { payment_id: capturedId, reference_id: reference } = Object(data)
  return { paymentId: String(reference).slice(0, 36), capturedId: String(capturedId) }
}

const MINUTE_MS = 60_000
/**
 * The time of a success may be that of an earlier try: at most a minute, and a call of some
 * seconds.
 */
const TRIED_MS = 90_000
/**
 * The longest time from the read of a floor to the record of a settlement: that of its function.
 */
const RECORDING_MS = 5 * MINUTE_MS

/**
 * Checked when a settlement is recorded: its payments are a day old, its end has passed, its net is
 * above the floor, and its account is one that the client had after the entries were read.
 */
function watchSettling(world: World) {
  const succeededMs = new Map<string, number>()
  const { since } = watchStates(world, / CLIENT$/, 'client_id')

  const ageProblems = (settlement: RawItem) => {
    const id = text(settlement, 'settlement_id')
    const nowMs = world.scheduler.nowMs()
    const young = sweptBy(settlement, entriesOf(world, settlement['client_id'])).filter(
      ({ type, payment_id: paymentId }) => {
        const sinceMs = succeededMs.get(`PAYMENT#${String(paymentId)}`) ?? nowMs
        return type === 'payment' && nowMs - sinceMs < DAY_MS - TRIED_MS - world.apartMs
      },
    )
    const isFuture =
      Date.parse(text(settlement, 'swept_until')) - 1 > nowMs + world.apartMs + MINUTE_MS
    return [
      ...young.map(
        (entry) =>
          `settlement ${id} has a payment that was paid today: ${text(entry, 'payment_id')}`,
      ),
      ...(isFuture ? [`settlement ${id} ends in the future`] : []),
    ]
  }

  const hadAccount = ({ client_id: clientId, bank: named }: RawItem) => {
    const listedMs = world.acting && world.listedMs.get(world.acting)
    return (
      listedMs === undefined ||
      since(String(clientId), listedMs).some(({ bank }) => isDeepStrictEqual(bank, named))
    )
  }

  world.onChange.push(({ key: { pk, sk }, before, after }) => {
    if (after === undefined) return
    if (sk === 'PAYMENT' && after['status'] === 'succeeded' && before?.['status'] !== 'succeeded') {
      succeededMs.set(pk, world.scheduler.nowMs())
    }
    if (sk !== 'SETTLEMENT' || before !== undefined) return
    world.problems.push(...ageProblems(after))
    if (!hadAccount(after))
      world.problems.push(`${pk} names an account that its client no longer had`)
    const clients = since(text(after, 'client_id'), world.scheduler.nowMs() - RECORDING_MS)
    const floor = Math.min(...clients.map((client) => amount(client, 'settlement_floor_minor')))
    const net = amount(after, 'net_minor')
    if (!(net > floor))
      world.problems.push(
        `settlement ${text(after, 'settlement_id')} of ${net} is not above ${floor}`,
      )
  })

  return () => unsettledProblems(world)
}

/** At rest: what is due to a client and in no settlement is not above its floor. */
function unsettledProblems(world: World) {
  const { windows } = booksOf(world.table.items('LEDGER#'))
  const now = new Date(world.scheduler.nowMs() - DAY_MS).toISOString()
  return windows.flatMap((window) => {
    const clientId = clientOf(window)
    const floor = amount(clientRow(world, clientId), 'settlement_floor_minor')
    const unsettled = sweptBy(
      { swept_from: text(window, 'settled_until'), swept_until: now },
      entriesOf(world, clientId),
    )
    const due = sum(unsettled, 'net_minor')
    return due > floor ? [`${due} of ${clientId} are never settled, and its floor is ${floor}`] : []
  })
}

/**
 * At rest: each fee is final in time, and operators had an alert about each assumed or different
 * fee.
 */
function watchFees(world: World) {
  return () => {
    const reported = new Set(world.table.items('SUSPENSE#').map(({ pk }) => String(pk)))
    return rowsOf(world, 'PAYMENT')
      .filter(({ status }) => status === 'succeeded')
      .flatMap((payment) => {
        const id = text(payment, 'pk').slice('PAYMENT#'.length)
        return feeProblems(world, payment, (cause) => reported.has(`SUSPENSE#${id}#${cause}`))
      })
  }
}

/** The next sweep has ended within this time. */
const SWEEP_MS = 25 * 3_600_000

function feeProblems(world: World, payment: RawItem, isReported: (cause: string) => boolean) {
  const pk = text(payment, 'pk')
  const isLate = world.scheduler.nowMs() > ms(payment, 'paid_at') + HELD_MS + SWEEP_MS
  if (!isFinal(payment))
    return isLate ? [`${pk}: its fee is neither final nor assumed by its day`] : []
  // An actual fee was compared with the provider's row when it was written.
  if (payment['fee_status'] !== 'assumed' || isVoidedOpen(payment)) return []
  if (!['fee_assumed', 'transaction_missing', 'row_contradicts'].some(isReported))
    return [`${pk}: operators had no alert about a fee that was assumed`]
  const row = settledRowOf(world, payment)
  if (row?.status !== 'SUCCESS' || world.unshownRows.has(row.product_id)) return []
  if (payment['late_row_at'] === undefined) return [`${pk}: the row that came late is not booked`]
  // A fee that cannot be, such as less than nothing, is told as a row that contradicts itself.
  const isTold = isReported('fee_changed') || isReported('row_contradicts')
  return keptBy(row) !== payment['provider_fee_minor'] && !isTold
    ? [`${pk}: operators had no alert about a fee that differs`]
    : []
}
