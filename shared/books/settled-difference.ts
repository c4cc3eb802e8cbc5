import type { WindowSeal } from '../audit/seal-store.ts'
import { SUM_FIELDS } from '../audit/settled-sums.ts'
import type { Window } from '../ledger/ledger-store.ts'
import type { LedgerReversal } from '../ledger/reversal-store.ts'
import { type Minor, minor, ZERO } from '../money.ts'
import { remainingSums, type Settlement } from '../settlement/settlement.ts'

type Amounts = Pick<Settlement, 'netMinor'>

const netOf = (all: readonly Amounts[]): number => all.reduce((sum, { netMinor }) => sum + netMinor, 0)

/** gross - fees - markup must be net, in whatever has the four. */
const notAddedUp = (gross: Minor, fees: Minor, markup: Minor, net: Minor): number => gross - fees - markup - net

/** A sealed window says what the settlement that swept it says. */
const bySeal = (seals: readonly WindowSeal[], settlements: readonly Settlement[]): readonly number[] => {
  const swept = new Map(
    settlements.filter(({ replaces }) => replaces === undefined).map((one) => [one.periodStart, one]),
  )
  return seals.flatMap((seal) => {
    const settlement = swept.get(seal.periodStart)
    return SUM_FIELDS.map((field) => seal[field] - (settlement?.[field] ?? 0))
  })
}

/**
 * How far the window, the settlements, the sealed windows and the reversals are from each other: every rupiah by which
 * one says something else than another, so that two mistakes never hide each other. Nothing, or somebody must look.
 */
export const settledDifference = (books: {
  readonly window: Window
  readonly settlements: readonly Settlement[]
  readonly seals: readonly WindowSeal[]
  readonly reversals: readonly LedgerReversal[]
}): Minor => {
  const { window, settlements, seals, reversals } = books
  const of = (isOne: (settlement: Settlement) => boolean) => settlements.filter(isOne)
  const waiting = of(({ settlementId }) => window.recreditedIds?.has(settlementId) === true)
  const recredited = of(({ recreditedAt }) => recreditedAt !== undefined)
  const open = of(({ status, recreditedAt }) => status !== 'manual_paid' && recreditedAt === undefined)
  const paidOut = of(({ status }) => status === 'manual_paid')
  const reversedSwept = recredited.reduce((sum, { reversedNetMinor = ZERO }) => sum + reversedNetMinor, 0)
  const differences = [
    netOf(of(({ replaces }) => replaces === undefined)) - window.settledMinor,
    netOf(waiting.map(remainingSums)) - window.availableMinor,
    reversedSwept - (window.reversedSweptMinor ?? 0),
    netOf(open) - window.inSettlementMinor,
    netOf(paidOut) - window.paidOutMinor,
    ...settlements.map((one) => notAddedUp(one.grossMinor, one.providerFeesMinor, one.markupMinor, one.netMinor)),
    ...reversals.map((one) => notAddedUp(one.notionalMinor, one.providerFeeMinor, one.markupMinor, one.netMinor)),
    ...bySeal(seals, settlements),
  ]
  return minor(differences.reduce((sum, difference) => sum + Math.abs(difference), 0))
}
