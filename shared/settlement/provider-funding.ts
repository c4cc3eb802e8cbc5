import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { PaymentId } from '../ids.ts'
import { readParts } from '../ledger/ledger-store.ts'
import { isDeducted, isReinstated, reversalsBetween } from '../ledger/reversal-store.ts'
import { less, type Minor, plus } from '../money.ts'
import { paymentKey } from '../table/keys.ts'
import { addFunding, type Funding, fundedIn, isFunded } from './funding.ts'
import { type PaidPayment, PaidPaymentSchema, paidPages } from './paid-payments.ts'
import type { Settlement } from './settlement.ts'
import { reversedBefore } from './settlement-store.ts'
import { keepProgress, noProgress, readProgress } from './window-progress-store.ts'

export type ProviderFunding = {
  /** What the provider has paid us of this settlement's payments, its fees kept; at least that, unless it is whole. */
  readonly fundedMinor: Minor
  /** What it still owes us; at most that, unless it is whole. */
  readonly unfundedMinor: Minor
  /** False when there were more payments than one look takes; the next one goes on behind them. */
  readonly isWhole: boolean
}

type LookDeps = Pick<Deps, 'table' | 'stage'>

/** Of those that waited, who has been paid meanwhile. */
const lookAgain = async (deps: LookDeps, funding: Funding): Promise<Funding> => {
  const items = await deps.table.getMany(funding.waiting.map(paymentKey))
  const paid = items.flatMap((item) => (item ? [v.parse(PaidPaymentSchema, item)] : [])).filter(isFunded)
  const arrived = new Set(paid.map(({ id }) => id))
  return {
    ...funding,
    fundedMinor: plus(funding.fundedMinor, fundedIn(paid)),
    waiting: funding.waiting.filter((id) => !arrived.has(id)),
  }
}

/** What the provider pays us for all of them. */
const owed = ({ grossMinor, providerFeesMinor }: Settlement): Minor => less(grossMinor, providerFeesMinor)

/**
 * What the provider had paid us of payments that went back before it was recorded, which are no part of the settlement,
 * less what it had paid us of those that were put back into its window.
 */
const fundedAndReversed = async (deps: LookDeps, settlement: Settlement): Promise<Minor> => {
  const { clientId, periodStart, periodEnd } = settlement
  const reversals = await reversalsBetween(deps, clientId, { start: periodStart, end: periodEnd })
  const gone = [
    ...reversals.filter(isDeducted).map(({ paymentId }) => paymentId),
    ...(await reversedBefore(deps, settlement)),
  ]
  const added = reversals.filter(isReinstated).map(({ paymentId }) => paymentId)
  return less(await fundedOf(deps, gone), await fundedOf(deps, added))
}

const fundedOf = async (deps: LookDeps, ids: readonly PaymentId[]): Promise<Minor> => {
  const items = await deps.table.getMany(ids.map(paymentKey))
  return fundedIn(items.flatMap((item) => (item ? [v.parse(PaidPaymentSchema, item)] : [])))
}

type Looked = { readonly kept: Funding; readonly fundedMinor: Minor; readonly isWhole: boolean }

/**
 * Looks at what lies behind, page by page. Kept are whole milliseconds, as long as not too many wait in them; so a look
 * never ends in the one it began with, however many were paid in it: the next one would begin there again.
 */
const lookFurther = async (
  deps: LookDeps,
  { clientId, periodEnd: end }: Settlement,
  known: Funding,
  pages: number,
): Promise<Looked> => {
  let kept = known
  let fundedMinor = known.fundedMinor
  let carried: readonly PaidPayment[] = []
  let isKeeping = true
  const parts = await readParts(deps, clientId)
  let page = 0
  for await (const { payments, more: isBehind } of paidPages(deps, {
    clientId,
    parts,
    period: { start: known.until, end },
  })) {
    fundedMinor = plus(fundedMinor, fundedIn(payments))
    const rows = [...carried, ...payments]
    const until = isBehind ? (rows.at(-1)?.paidAt ?? kept.until) : end
    carried = rows.filter(({ paidAt }) => paidAt === until)
    const added = { from: kept.until, payments: rows.filter(({ paidAt }) => paidAt !== until), until }
    const more: Funding | undefined = isKeeping ? addFunding(kept, added) : undefined
    isKeeping = more !== undefined
    kept = more ?? kept
    if (!isBehind) return { kept, fundedMinor, isWhole: true }
    if (++page >= pages && until > known.until) return { kept, fundedMinor, isWhole: false }
  }
  return { kept, fundedMinor, isWhole: true }
}

/**
 * How much of a settlement the provider has paid us. What is kept of it never changes: whom it has paid is never looked
 * at again, so a look costs those that waited and what lies behind them, `pages` pages at most, or as many as one
 * millisecond's payments take. Settlements of one window share it. Of two looks at once one is kept; no answer depends on that.
 */
export const providerFunding = async (
  deps: LookDeps,
  settlement: Settlement,
  pages: number,
): Promise<ProviderFunding> => {
  const { clientId, periodStart: start, periodEnd: end } = settlement
  const found = await readProgress(deps, clientId, start)
  // A run that saw further than the one that recorded the window may have looked past its end.
  const progress = found.funding.until > end ? { ...noProgress(start), version: found.version } : found
  const known = await lookAgain(deps, progress.funding)
  const { kept, fundedMinor, isWhole } = await lookFurther(deps, settlement, known, pages)
  if (kept.until !== progress.funding.until || kept.waiting.length !== progress.funding.waiting.length) {
    await keepProgress(deps, clientId, start, { ...progress, funding: kept })
  }
  const ofSettlement = less(fundedMinor, await fundedAndReversed(deps, settlement))
  return { fundedMinor: ofSettlement, unfundedMinor: less(owed(settlement), ofSettlement), isWhole }
}
