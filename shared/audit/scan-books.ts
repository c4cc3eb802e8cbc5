import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type Event, EventSchema } from '../event/event.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { readLedger, type Window } from '../ledger/ledger-store.ts'
import { type Payment, PaymentSchema } from '../payment/payment.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { listSettlements } from '../settlement/settlement-store.ts'
import { addSums, NO_SUMS, type Sums } from '../settlement/sums.ts'
import type { Item } from '../table/attributes.ts'
import { eventKey, paymentKey } from '../table/keys.ts'
import { getItems, queryPage } from '../table/read.ts'
import type { Timestamp } from '../time.ts'
import { auditPayment, eventTypeOf } from './audit-payment.ts'
import { auditSettlements } from './audit-settlements.ts'
import { type Difference, differs } from './difference.ts'
import { compareShards, emptyTally, tallyPayment } from './ledger-tally.ts'

type ScanDeps = Pick<Deps, 'table' | 'sleep' | 'random'>

export type Scan = {
  /** Of payments by themselves and of settled windows: these do not change while they are read. */
  readonly settled: readonly Difference[]
  /** Of counts and credits that live traffic moves. */
  readonly openTail: readonly Difference[]
}

const PAGE = 100

/** All payments of a client with their events, page by page: memory does not grow with their number. */
const paymentsWithEvents = async function* (deps: ScanDeps, clientId: ClientId) {
  let cursor: Item | undefined
  do {
    const page = await queryPage(deps, {
      index: 'by-owner',
      partition: [clientId, 'payment'],
      limit: PAGE,
      ...(cursor && { cursor }),
    })
    const ids = page.items.map(({ id }): PaymentId => v.parse(PaymentIdSchema, id))
    const payments = (await getItems(deps, ids.map(paymentKey))).flatMap((item) =>
      item ? [v.parse(PaymentSchema, item)] : [],
    )
    yield* await withEvents(deps, payments)
    cursor = page.cursor
  } while (cursor)
}

type Announced = { readonly payment: Payment; readonly event: Event | undefined }

const withEvents = async (deps: ScanDeps, payments: readonly Payment[]): Promise<readonly Announced[]> => {
  const keys = payments.flatMap((payment) => {
    const type = eventTypeOf(payment)
    return type === undefined ? [] : [eventKey(payment.paymentId, type)]
  })
  const events = (await getItems(deps, keys)).flatMap((item) => (item ? [v.parse(EventSchema, item)] : []))
  return payments.map((payment) => ({
    payment,
    event: events.find(({ paymentId }) => paymentId === payment.paymentId),
  }))
}

const allSettlements = async (deps: ScanDeps, clientId: ClientId): Promise<readonly Settlement[]> => {
  const settlements: Settlement[] = []
  for (let page = 1; ; page++) {
    const found = await listSettlements(deps, clientId, { page, perPage: PAGE })
    if (found.length === 0) return settlements
    settlements.push(...found)
  }
}

/** Adds a settled payment to the window it was paid in. */
const addToWindow = (paidIn: Map<Timestamp, Sums>, windows: readonly Settlement[], payment: Payment) => {
  const { paidAt } = payment
  const window = windows.find(
    ({ periodStart, periodEnd }) => paidAt !== undefined && periodStart <= paidAt && paidAt < periodEnd,
  )
  if (window === undefined) return differs('payment.settlement', payment.paymentId, 'a settlement', undefined)
  const sums: Sums = {
    grossMinor: payment.notionalMinor,
    providerFeesMinor: payment.providerFeeMinor,
    markupMinor: payment.markupMinor,
    netMinor: payment.netMinor,
    paymentCount: 1,
  }
  paidIn.set(window.periodStart, addSums(paidIn.get(window.periodStart) ?? NO_SUMS, sums))
  // Settlements carry actual fees only.
  return payment.feeStatus === 'estimated' ? differs('payment.fee_status', payment.paymentId, 'final', 'estimated') : []
}

const isSettled = (payment: Payment, window: Window): boolean =>
  payment.status === 'succeeded' && payment.paidAt !== undefined && payment.paidAt < window.settledUntil

/** Reads a client's books once, from beginning to end, and holds every part against the others. */
export const scanBooks = async (deps: ScanDeps, clientId: ClientId, born: Timestamp): Promise<Scan> => {
  const { window } = await readLedger(deps, clientId)
  if (window === undefined) return { settled: differs('window', clientId, 'present', undefined), openTail: [] }
  // A settlement made while this runs belongs to a window this scan does not judge.
  const settlements = (await allSettlements(deps, clientId)).filter(({ periodEnd }) => periodEnd <= window.settledUntil)
  const windows = settlements.filter(({ replaces }) => replaces === undefined)
  const tally = emptyTally()
  const paidIn = new Map<Timestamp, Sums>()
  const settled: Difference[] = []
  for await (const { payment, event } of paymentsWithEvents(deps, clientId)) {
    tallyPayment(tally, payment)
    settled.push(...auditPayment(payment, event))
    if (isSettled(payment, window)) settled.push(...addToWindow(paidIn, windows, payment))
  }
  settled.push(...(await auditSettlements(deps, { settlements, window, born, paidIn })))
  return { settled, openTail: compareShards(tally, await readLedger(deps, clientId)) }
}
