import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import type { Deps, StoreDeps } from '../deps.ts'
import { figuresOf, lessFigures } from '../journal/entry.ts'
import type { OwnRow } from '../journal/legs.ts'
import { standingFigures } from '../journal/payment-money.ts'
import { FenceSchema } from '../ledger/fence-store.ts'
import { moveCredit, shardOf } from '../ledger/shard-store.ts'
import { readWindow } from '../ledger/window-store.ts'
import { type Minor, plus, ZERO } from '../money.ts'
import { endAsCredited, type HeldDeps } from '../payment/held-money.ts'
import type { FinalFee, Payment } from '../payment/payment.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { ensureSuspense, findSuspenseByIds } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import { later, type Timestamp } from '../time.ts'
import { moneyOf } from './payment-entries.ts'
import { changeMoney } from './posting-store.ts'
import { replayMovements } from './reversal-after.ts'

export type SettledRow = OwnRow & {
  readonly feeMinor: Minor
  /** The tariff's fee under a contract that bills later. */
  readonly invoiced?: true | undefined
  readonly settledAt: Timestamp
}

/**
 * A settled row; or seven days without such a row, with the finding and maybe a row that
 * contradicts itself.
 */
export type Posting = {
  readonly payment: Payment
  readonly by:
    | { readonly row: SettledRow }
    | { readonly assumed: Suspense; readonly contradicting?: SettledRow | undefined }
}

type PostingPlan = { readonly posting: Posting; readonly after: Payment; readonly netMinor: Minor }

/**
 * Posts open payments (design section 12): each payment once, on condition of `money_version`, in
 * one transaction with its shard, its entry and the entries of its reversals. Payments of one shard
 * share a transaction; if that is refused, each payment has its own. Answers in the order of
 * `postings`; undefined for a payment that changed: read it again.
 */
export async function postPayments(deps: StoreDeps, postings: readonly Posting[]) {
  // The table refuses a transaction that names a payment twice: the first posting counts.
  const distinct = [
    ...new Map(
      postings.toReversed().map((posting) => [posting.payment.paymentId, posting]),
    ).values(),
  ]
  const shards = Map.groupBy(distinct, ({ payment }) => JSON.stringify(shardOf(payment))).values()
  const groups = [...shards].flatMap((shardPostings) => groupsOf(shardPostings))
  const posted = await mapInChunks(groups, 8, async (group) => {
    const planned = await postTogether(deps, group)
    if (planned || group.length === 1) return planned ?? []
    const singles = await Array.fromAsync(group, (posting) => postTogether(deps, [posting]))
    return singles.flatMap((single) => single ?? [])
  })
  const afterOf = new Map(posted.flat().map(({ posting, after }) => [posting, after]))
  return postings.map((posting) => afterOf.get(posting))
}

/**
 * A transaction has the shard, and of each posting the payment, its entries and maybe the two items
 * of a finding.
 */
const MAX_ITEMS = 100
const MAX_PAYMENTS = 45

function groupsOf(postings: readonly Posting[]): readonly (readonly Posting[])[] {
  const groups: Posting[][] = []
  let items = 1
  for (const posting of postings) {
    const lastGroup = groups.at(-1)
    const addedItems = 2 + posting.payment.movements.length + ('assumed' in posting.by ? 2 : 0)
    items += addedItems
    if (lastGroup === undefined || lastGroup.length === MAX_PAYMENTS || items > MAX_ITEMS) {
      groups.push([posting])
      items = 1 + addedItems
    } else lastGroup.push(posting)
  }
  return groups
}

/** A settlement raises the fence once, so a later try succeeds. */
const MAX_TRIES = 4

/** Undefined if one of the payments changed after the read. */
async function postTogether(
  deps: StoreDeps,
  postings: readonly Posting[],
): Promise<readonly PostingPlan[] | undefined> {
  let postedAt = deps.now()
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const planned = postings.map((posting) => planPosting(posting, postedAt))
    const outcome = await deps.table.transact(stepsOf(planned, postedAt))
    if (outcome.applied) return planned
    if (outcome.refusedBy !== 'ledger') return undefined
    postedAt = later(deps.now(), v.parse(FenceSchema, outcome.item).closedUntil)
  }
  throw new Error('the journal of a client kept being closed while a payment was posted')
}

/** Rows that came while the payment was open are applied again, to the final net. */
export function planPosting(posting: Posting, postedAt: Timestamp): PostingPlan {
  const { payment, by } = posting
  const row = 'row' in by ? by.row : by.contradicting
  const finalFee = feeOf(posting, postedAt)
  const price = figuresOf(payment.notionalMinor, finalFee.feeMinor, payment.markupMinor)
  const { money, reversal } = replayMovements(payment, price)
  const after: Payment = {
    ...payment,
    providerFeeMinor: price.feeMinor,
    netMinor: price.netMinor,
    feeStatus: finalFee.status,
    finalFee,
    openAt: undefined,
    postedAt,
    moneyVersion: (payment.moneyVersion ?? 0) + 1,
    takenBackMinor: money.takenBackMinor,
    movements: payment.movements.map((movement) => ({ ...movement, postedAt })),
    ...(reversal && { reversal }),
    ...(row && { providerSettledAt: row.settledAt, ownRow: ownRowOf(row) }),
  }
  return {
    posting,
    after,
    netMinor: lessFigures(standingFigures(money), standingFigures(moneyOf(payment))).netMinor,
  }
}

function ownRowOf({ transactionId, providerMinor, contradicts }: SettledRow) {
  return { transactionId, providerMinor, ...(contradicts && { contradicts }) }
}

/**
 * The fee is known at success under a contract that bills later; else by the row, or the estimate.
 */
function feeOf({ payment, by }: Posting, at: Timestamp): FinalFee {
  if (payment.finalFee) return payment.finalFee
  if ('assumed' in by) return { status: 'assumed', feeMinor: payment.providerFeeMinor, at }
  const { feeMinor, invoiced } = by.row
  return { status: 'actual', feeMinor, at, ...(invoiced && { invoiced }) }
}

function stepsOf(planned: readonly PostingPlan[], postedAt: Timestamp): Steps<string> {
  const netMinor = planned.reduce((sum, plan) => plus(sum, plan.netMinor), ZERO)
  // All have one shard, so each names the same step of the ledger.
  const steps = planned.flatMap(({ posting: { payment, by }, after }) => [
    { ledger: moveCredit(payment, netMinor, postedAt) },
    changeMoney(payment, after),
    'assumed' in by ? ensureSuspense(by.assumed) : {},
  ])
  return Object.assign({}, ...steps)
}

export function isForAmount(
  transaction: ProviderTransaction,
  payment: Pick<Payment, 'notionalMinor' | 'currency'>,
) {
  return (
    transaction.amountMinor === payment.notionalMinor && transaction.currency === payment.currency
  )
}

/**
 * A payment's own row when it is settled with a final fee: of type payment, successful, and in the
 * payment's currency. The fee is what the provider kept; zero is a fee, except under a contract
 * that bills later.
 */
export function settledRowOf(
  { stage }: Pick<Deps, 'stage'>,
  payment: Payment,
  transaction: ProviderTransaction,
): SettledRow | undefined {
  const { type, status, currency, keptMinor, settledAt, transactionId, providerMinor } = transaction
  const isOwn = type === 'payment' && status === 'success' && currency === payment.currency
  if (!isOwn || keptMinor === undefined || settledAt === undefined) return undefined
  const row = { feeMinor: keptMinor, transactionId, providerMinor, settledAt }
  if (!isForAmount(transaction, payment) || !isPossibleFee(payment, keptMinor))
    return { ...row, contradicts: true }
  const isInvoiced = keptMinor === 0 && stage.providerFees === 'invoiced'
  return isInvoiced ? { ...row, feeMinor: payment.providerFeeMinor, invoiced: true } : row
}

/** Whether the provider can have kept this fee, by the estimate. */
export function isPossibleFee(
  { providerFeeMinor }: Pick<Payment, 'providerFeeMinor'>,
  keptMinor: Minor,
) {
  const isFarMore = keptMinor > 3 * providerFeeMinor && keptMinor > providerFeeMinor + 10_000
  return keptMinor >= 0 && !isFarMore
}

/**
 * Money may be held before the payment is there that it belongs to. Its item ends before the
 * payment's own row is booked, so that a crash leaves no item open.
 */
export async function endCreditedMoney(
  deps: HeldDeps,
  payments: readonly Payment[],
): Promise<void> {
  const ids = payments.flatMap(({ capture }) => capture?.providerPaymentId ?? [])
  for (const item of await findSuspenseByIds(deps, ids)) await endAsCredited(deps, item)
}

export function withLateRow(payment: Payment, row: SettledRow, lateRowAt: Timestamp): Payment {
  return { ...payment, ownRow: ownRowOf(row), lateRowAt, providerSettledAt: row.settledAt }
}

/** The payment was posted before. Refused if payment or fence changed meanwhile. */
export async function bookLateRow(
  deps: StoreDeps,
  payment: Payment,
  row: SettledRow,
  contradiction?: Suspense,
) {
  const { closedUntil } = await readWindow(deps, payment.clientId)
  const lateRowAt = later(deps.now(), closedUntil)
  const after = withLateRow(payment, row, lateRowAt)
  return deps.table.transact({
    ...changeMoney(payment, after),
    ledger: moveCredit(payment, ZERO, lateRowAt),
    ...(contradiction && ensureSuspense(contradiction)),
  })
}
