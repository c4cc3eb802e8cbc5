import type { Payment } from '../../../../shared/payment/payment.ts'
import type { Settlement } from '../../../../shared/settlement/settlement.ts'
import { addMs, DAY_MS, HOUR_MS, type Timestamp } from '../../../../shared/time.ts'

/**
 * The settlement rules of the specification once more, in memory, over plain arrays and without a table: what real
 * histories are compared with. Every change of a real transaction is one step, so that a process that died behind its
 * nth transaction is n steps of the model.
 */

type Fee = { readonly feeMinor: number; readonly status: Payment['feeStatus'] }

type ModelPayment = {
  readonly id: string
  readonly paidAt: Timestamp
  readonly grossMinor: number
  readonly markupMinor: number
  fee: Fee
  /** What the provider says when it is asked; undefined: it knows nothing. */
  readonly upstreamFeeMinor: number | undefined
}

export type ModelSettlement = {
  readonly start: Timestamp
  readonly end: Timestamp
  readonly payments: readonly ModelPayment[]
  readonly triggeredBy: Settlement['triggeredBy']
  status: Settlement['status']
  /** Recredited: waits in available, or was recorded again. */
  recredit?: 'waiting' | 'drawn'
  readonly replaces: ModelSettlement | undefined
}

export type Model = {
  floorMinor: number
  reachable: boolean
  settledUntil: Timestamp
  readonly payments: ModelPayment[]
  readonly settlements: ModelSettlement[]
}

export const newModel = (createdAt: Timestamp, floorMinor: number): Model => ({
  floorMinor,
  reachable: true,
  settledUntil: addMs(createdAt, -HOUR_MS),
  payments: [],
  settlements: [],
})

const netOf = ({ grossMinor, markupMinor, fee }: ModelPayment) => grossMinor - fee.feeMinor - markupMinor
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
const netOfAll = (payments: readonly ModelPayment[]) => total(payments.map(netOf))

/** One transaction that is about to be written; asking for the next step lets it happen. */
type Steps = Generator<'transaction', void>

const recordAgain = function* (model: Model, by: Settlement['triggeredBy']): Steps {
  for (const failed of model.settlements.filter(({ recredit }) => recredit === 'waiting')) {
    if (netOfAll(failed.payments) <= model.floorMinor) continue
    yield 'transaction'
    failed.recredit = 'drawn'
    const { start, end, payments } = failed
    model.settlements.push({ start, end, payments, triggeredBy: by, status: 'recorded', replaces: failed })
  }
}

const inOrder = (a: ModelPayment, b: ModelPayment) => (`${a.paidAt}${a.id}` < `${b.paidAt}${b.id}` ? -1 : 1)

/** Makes the fees final that may be; the first payment whose fee stays unknown ends the window. */
const makeFinal = function* (model: Model, eligible: readonly ModelPayment[], now: Timestamp) {
  for (const payment of eligible) {
    if (payment.fee.status !== 'estimated') continue
    if (addMs(payment.paidAt, 7 * DAY_MS) > now || !model.reachable) return payment
    yield 'transaction' as const
    const { upstreamFeeMinor } = payment
    payment.fee =
      upstreamFeeMinor === undefined
        ? { feeMinor: payment.fee.feeMinor, status: 'assumed' }
        : { feeMinor: upstreamFeeMinor, status: 'actual' }
  }
  return undefined
}

/** Sweep or trigger, transaction by transaction (spec 3.2). */
export const settleModel = function* (model: Model, by: Settlement['triggeredBy'], now: Timestamp): Steps {
  yield* recordAgain(model, by)
  const start = model.settledUntil
  const youngest = addMs(now, -DAY_MS)
  const eligible = model.payments.filter(({ paidAt }) => paidAt >= start && paidAt <= youngest).toSorted(inOrder)
  const held = yield* makeFinal(model, eligible, now)
  const end = held?.paidAt ?? addMs(youngest, 1)
  const payments = eligible.filter(({ paidAt }) => paidAt < end)
  if (netOfAll(payments) <= model.floorMinor) return
  yield 'transaction'
  model.settledUntil = end
  model.settlements.push({ start, end, payments, triggeredBy: by, status: 'recorded', replaces: undefined })
}

/** A settlement as both sides show it: everything but ids and times of recording. */
export const modelView = (model: Model) => {
  const views = model.settlements.map((settlement) => ({
    periodStart: settlement.start,
    periodEnd: settlement.end,
    grossMinor: total(settlement.payments.map(({ grossMinor }) => grossMinor)),
    providerFeesMinor: total(settlement.payments.map(({ fee }) => fee.feeMinor)),
    markupMinor: total(settlement.payments.map(({ markupMinor }) => markupMinor)),
    netMinor: netOfAll(settlement.payments),
    paymentCount: settlement.payments.length,
    status: settlement.status,
    triggeredBy: settlement.triggeredBy,
    recredited: settlement.recredit !== undefined,
    replaces: settlement.replaces ? model.settlements.indexOf(settlement.replaces) : -1,
  }))
  const swept = model.settlements.filter(({ replaces }) => replaces === undefined)
  const paidOut = model.settlements.filter(({ status }) => status === 'manual_paid')
  const open = model.settlements.filter(({ status, recredit }) => status !== 'manual_paid' && recredit === undefined)
  return {
    settlements: views,
    pendingMinor: netOfAll(model.payments) - total(swept.map(({ payments }) => netOfAll(payments))),
    availableMinor: total(
      model.settlements.filter(({ recredit }) => recredit === 'waiting').map(({ payments }) => netOfAll(payments)),
    ),
    inSettlementMinor: total(open.map(({ payments }) => netOfAll(payments))),
    paidOutMinor: total(paidOut.map(({ payments }) => netOfAll(payments))),
  }
}

/** Real settlements in the order they were recorded: their ids are made in order. */
export const inOrderOfRecord = (settlements: readonly Settlement[]): readonly Settlement[] =>
  settlements.toSorted((a, b) => (a.settlementId < b.settlementId ? -1 : 1))

/** The same view of real settlements. */
export const realView = (settlements: readonly Settlement[]) => {
  const recorded = inOrderOfRecord(settlements)
  return recorded.map((settlement) => ({
    periodStart: settlement.periodStart,
    periodEnd: settlement.periodEnd,
    grossMinor: settlement.grossMinor,
    providerFeesMinor: settlement.providerFeesMinor,
    markupMinor: settlement.markupMinor,
    netMinor: settlement.netMinor,
    paymentCount: settlement.paymentCount,
    status: settlement.status,
    triggeredBy: settlement.triggeredBy,
    recredited: settlement.recreditedAt !== undefined,
    replaces: recorded.findIndex(({ settlementId }) => settlementId === settlement.replaces),
  }))
}
