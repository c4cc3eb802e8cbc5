import { mapInChunks } from '../../chunks.ts'
import type { StoreDeps } from '../../deps.ts'
import { correctCredit, shardOf } from '../../ledger/ledger-store.ts'
import { plus } from '../../money.ts'
import type { Payment } from '../payment.ts'
import { type FeeDecision, feeMadeFinal, makeFeeFinal } from './fee-store.ts'

export type ActualFeeOf = Omit<FeeDecision, 'status' | 'noted'> & { readonly payment: Payment }

type Result = readonly [ActualFeeOf, Payment | undefined]

/** Payments of one transaction: DynamoDB takes a hundred items. */
const MOST_TOGETHER = 50
const CONCURRENCY = 8

/**
 * Makes the fees of several payments actual, such as those of one page of the provider's transactions, each as
 * `makeFeeFinal` does it. Payments of one shard of their client's ledger share one correction of it in one transaction;
 * not all of a client's, which would meet the credits of sixteen shards at once and be cancelled by any of them. A
 * transaction that refuses is done again payment by payment: none holds up another, and dying in between leaves payments
 * that are final and others that are not. Answers in the order of `fees`; undefined: final already, read it again.
 */
export const makeFeesActual = async (
  deps: StoreDeps,
  fees: readonly ActualFeeOf[],
): Promise<readonly (Payment | undefined)[]> => {
  // A transaction that names a payment twice is refused by the table: the first counts.
  const distinct = new Map(fees.toReversed().map((fee) => [fee.payment.paymentId, fee])).values()
  const groups = Map.groupBy(distinct, ({ payment }) => JSON.stringify(shardOf(payment))).values()
  const made = await mapInChunks([...groups], CONCURRENCY, (group) => makeGroupActual(deps, group))
  const paymentOf = new Map(made.flat())
  return fees.map((fee) => paymentOf.get(fee))
}

const makeGroupActual = async (deps: StoreDeps, group: readonly ActualFeeOf[]): Promise<readonly Result[]> => {
  const at = deps.now()
  const changed = group
    .map((fee) => ({ fee, ...feeMadeFinal(fee.payment, { ...fee, status: 'actual' }, at) }))
    .filter(({ differenceMinor }) => differenceMinor !== 0)
    .slice(0, MOST_TOGETHER)
  const [first, ...others] = changed
  if (first === undefined || others.length === 0) return makeEachActual(deps, group)
  const sum = others.reduce((all, { differenceMinor }) => plus(all, differenceMinor), first.differenceMinor)
  const { applied } = await deps.table.transact({
    ...Object.fromEntries(changed.map(({ fee, step }) => [fee.payment.paymentId, step])),
    ledger: sum === 0 ? undefined : correctCredit(first.payment, sum, at),
  })
  if (!applied) return makeEachActual(deps, group)
  const together = new Set(changed.map(({ fee }) => fee))
  const results = changed.map(({ fee, payment }): Result => [fee, payment])
  return [
    ...results,
    ...(await makeEachActual(
      deps,
      group.filter((fee) => !together.has(fee)),
    )),
  ]
}

const makeEachActual = (deps: StoreDeps, fees: readonly ActualFeeOf[]): Promise<readonly Result[]> =>
  mapInChunks(
    fees,
    1,
    async (fee) => [fee, await makeFeeFinal(deps, fee.payment, { ...fee, status: 'actual' })] as const,
  )
