import { type Entry, HOUSE_SIDES } from '../../journal/entry.ts'
import type { HouseEntry } from '../../journal/house-store.ts'
import { negated, ZERO } from '../../money.ts'
import type { Payment } from '../../payment/payment.ts'
import { heldAmountOf, type Suspense } from '../../suspense/suspense.ts'
import { attributeName } from '../../table/attributes.ts'
import { compare } from '../../verdict/difference.ts'

/**
 * The legs of design section 12 once more, in plain numbers and without the code of the writers: a
 * wrong leg of theirs is a difference here.
 */

const SIDES = [...HOUSE_SIDES, 'netMinor', 'markupMinor'] as const
type Sums = Readonly<Partial<Record<(typeof SIDES)[number], number>>>

/**
 * Compares what a payment's stored entries add up to with the closed form of its state (end of
 * design section 12). What the house takes of an earlier write-off is no part of the payment.
 */
export function auditSums(payment: Payment, entries: readonly Entry[]) {
  const expected = sumsByState(payment)
  const own = entries.filter(({ type }) => type !== 'written_off')
  const sums = Object.fromEntries(
    SIDES.map((side) => [side, own.reduce((sum, entry) => sum + entry[side], 0)]),
  )
  return compareSides('payment.sums', payment.paymentId, expected, sums)
}

function compareSides(what: string, id: string, expected: Sums, found: Sums) {
  return SIDES.flatMap((side) =>
    compare(`${what}.${attributeName(side)}`, id, expected[side] ?? 0, found[side] ?? 0),
  )
}

/** R, D, F, A, Ω and K of the design. */
function sumsByState(payment: Payment) {
  const { notionalMinor: gross, providerFeeMinor: fee, markupMinor, ownRow, movements } = payment
  if (payment.postedAt === undefined) return {}
  const net = gross - fee - markupMinor
  const voidIds = new Set<string>()
  for (const { type, transactionId } of movements)
    if (type === 'reversal') voidIds.add(transactionId)
  let [out, back, disputed, fees, byBank, moved, odd] = [0, 0, 0, 0, 0, 0, 0]
  for (const row of movements) {
    const { type, amountMinor: amount, feeMinor: rowFee = 0, providerMinor } = row
    if (type === 'reversal' || voidIds.has(row.transactionId)) continue
    const sign = type === 'dispute_won' ? -1 : 1
    out += sign * amount
    if (type === 'refund') back += amount
    else disputed += sign * amount
    if (row.isByBank) byBank += amount
    else {
      fees += rowFee
      moved += providerMinor
      odd += providerMinor + sign * amount + rowFee
    }
  }
  const isVoid = movements.some(({ isOwnRow }) => isOwnRow)
  const rows = { providerMinor: moved, bankMinor: -byBank }
  if (isVoid) return { ...rows, costMinor: -out - fees, otherMinor: odd }
  const taken = Math.max(0, Math.min(net, back + Math.max(0, disputed)))
  const markup = net > 0 && taken === net ? 0 : markupMinor
  const expected = payment.finalFee?.invoiced ? gross : gross - fee
  const gap = ownRow ? ownRow.providerMinor - expected : 0
  const lost = fees + out - taken
  return {
    providerMinor: moved + (ownRow?.providerMinor ?? 0),
    bankMinor: -byBank,
    transitMinor: ownRow ? gross - fee - expected : gross - fee,
    costMinor: (ownRow?.contradicts ? 0 : gap) - lost + markupMinor - markup,
    otherMinor: odd + (ownRow?.contradicts ? gap : 0),
    netMinor: net - taken,
    markupMinor: markup,
  }
}

/** An entry of an operator's action, or of what the house takes back of a write-off. */
export function auditAdjusted(entry: Entry, netMinor: number | undefined = entry.netMinor) {
  const { providerMinor } = entry
  const expected: Partial<Record<Entry['type'], Sums>> = {
    recovered: { netMinor, bankMinor: netMinor },
    returned: { netMinor, bankMinor: netMinor },
    written_off: { netMinor, costMinor: -netMinor },
    correction: { netMinor, providerMinor, otherMinor: providerMinor - netMinor },
    recredit: {},
  }
  const legs = expected[entry.type]
  return legs === undefined ? [] : compareSides('entry', entry.entryId, legs, entry)
}

/** `entries`: every entry of the house about money in suspense. */
export function auditHeld(item: Suspense, entries: readonly HouseEntry[]) {
  const heldMinor = entries.reduce((sum, { suspenseMinor }) => sum + suspenseMinor, 0)
  const isByBank = item.resolution === 'refunded_by_bank' && item.providerMinor !== undefined
  const resolved = entries.find(({ type }) => type === 'suspense_resolved')
  return [
    ...compare('suspense.held_minor', item.suspenseId, heldAmountOf(item), heldMinor),
    ...compare(
      'suspense.bank_minor',
      item.suspenseId,
      isByBank ? (resolved?.suspenseMinor ?? 0) : 0,
      resolved?.bankMinor ?? 0,
    ),
  ]
}

/** `booked`: every entry of the house with the same transaction. */
export function auditHouseLegs(entry: HouseEntry, booked: readonly HouseEntry[]) {
  const { transactionId, type } = entry
  return compareSides('house_entry', `${transactionId}#${type}`, houseLegs(entry, booked), entry)
}

const TAKEN_OVER = ['unmatched', 'topup', 'withdrawal']

function houseLegs(entry: HouseEntry, booked: readonly HouseEntry[]) {
  const { type, providerMinor, suspenseMinor, bankMinor, transitMinor } = entry
  const { amountMinor: amount = 0, feeMinor: fee = ZERO } = entry
  const row = booked.find((one) => TAKEN_OVER.includes(one.type))
  switch (type) {
    case 'suspense':
      return { providerMinor, suspenseMinor, costMinor: providerMinor - suspenseMinor }
    case 'suspense_refunded':
      // Without an amount the money's own row is void.
      return entry.amountMinor === undefined
        ? { providerMinor, suspenseMinor, costMinor: providerMinor - suspenseMinor }
        : {
            providerMinor,
            suspenseMinor,
            costMinor: negated(fee) - (amount + suspenseMinor),
            otherMinor: providerMinor + amount + fee,
          }
    case 'suspense_resolved':
      return bankMinor === 0
        ? { suspenseMinor, otherMinor: negated(suspenseMinor) }
        : { suspenseMinor, bankMinor: suspenseMinor }
    case 'unmatched':
      return { providerMinor, otherMinor: providerMinor }
    case 'topup':
    case 'withdrawal': {
      const sign = type === 'topup' ? 1 : -1
      const other = providerMinor - sign * amount + fee
      return {
        providerMinor,
        bankMinor: -sign * amount,
        costMinor: negated(fee),
        otherMinor: other,
      }
    }
    case 'correction':
      return row ? negative(row) : {}
    case 'reversal': {
      const isTaken = booked.some((one) => one.type === 'correction')
      if (row && isTaken) {
        const backMinor = negated(row.providerMinor)
        return { providerMinor: backMinor, otherMinor: backMinor }
      }
      const refund = booked.find((one) => one.type === 'suspense_refunded')
      if (row || refund === undefined) return row ? negative(row) : {}
      const gone = negated(refund.costMinor) - refund.suspenseMinor
      return { ...negative(refund), suspenseMinor, costMinor: gone - suspenseMinor }
    }
    case 'adjustment':
      // The operator's record is the only witness of these.
      return { bankMinor, transitMinor, costMinor: entry.costMinor, otherMinor: entry.otherMinor }
  }
}

function negative(entry: HouseEntry) {
  return Object.fromEntries(HOUSE_SIDES.map((side) => [side, negated(entry[side])]))
}
