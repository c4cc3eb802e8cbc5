import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { type ClientId, type PaymentId, PaymentIdSchema, type SettlementId, SettlementIdSchema } from '../ids.ts'
import { less, ZERO } from '../money.ts'
import type { Page } from '../page.ts'
import { absent, all, type Condition, contains, equals, isNew, unchanged } from '../table/condition.ts'
import { DUE_WORK_FIELDS, dueWork } from '../table/due-work.ts'
import { settlementKey } from '../table/keys.ts'
import { listItems } from '../table/list-items.ts'
import { guard, put, type Step, update } from '../table/step.ts'
import { addMs, END_OF_TIME, type Timestamp } from '../time.ts'
import { type Settlement, SettlementSchema } from './settlement.ts'
import type { Sums } from './sums.ts'

const ENTITY = 'settlement'

/** One settlement of whatever client, for operators. Throws 404. */
export const findAnySettlement = async (deps: Pick<Deps, 'table'>, id: string): Promise<Settlement> => {
  const settlementId = v.safeParse(SettlementIdSchema, id)
  const item = settlementId.success ? await deps.table.get(settlementKey(settlementId.output)) : undefined
  if (item === undefined) throw notFound('settlement')
  return v.parse(SettlementSchema, item)
}

/** One settlement of a client (spec 4.7); an absent id and another client's throw the same 404. */
export const findSettlement = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  id: string,
): Promise<Settlement> => {
  const settlement = await findAnySettlement(deps, id)
  if (settlement.clientId !== clientId) throw notFound('settlement')
  return settlement
}

/** A client's settlements, newest period first (spec 4.6). */
export const listSettlements = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  page: Page,
): Promise<readonly Settlement[]> => {
  const items = await listItems(deps, {
    kind: 'SETTLEMENT',
    index: 'by-owner',
    partition: [clientId, ENTITY],
    page,
    reads: 'eventual',
  })
  return items.map((item) => v.parse(SettlementSchema, item))
}

/** Any number of settlements by their ids, strongly consistent; one that is not there is left out. */
export const findSettlements = async (
  deps: Pick<Deps, 'table'>,
  ids: readonly SettlementId[],
): Promise<readonly Settlement[]> =>
  (await deps.table.getMany(ids.map(settlementKey))).flatMap((item) => (item ? [v.parse(SettlementSchema, item)] : []))

const MOST_OF_A_WINDOW = 20

/** The settlements a payment was in, oldest first: one, and those that recorded its failed predecessors again. */
export const settlementsOfPayment = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  paidAt: Timestamp,
): Promise<readonly Settlement[]> => {
  const { items } = await deps.table.query({
    index: 'by-owner',
    partition: [clientId, ENTITY],
    // Windows follow one another: the first that end behind the payment are those it was swept in.
    range: { between: [addMs(paidAt, 1), END_OF_TIME] },
    limit: MOST_OF_A_WINDOW,
  })
  const settlements = await findSettlements(
    deps,
    items.map(({ id }) => v.parse(SettlementIdSchema, id)),
  )
  return settlements.filter(({ periodStart }) => periodStart <= paidAt)
}

/** What is to be paid out, over all clients: recorded settlements, newest first. */
export const listPayouts = async (deps: Pick<Deps, 'table'>, page: Page): Promise<readonly Settlement[]> => {
  const items = await listItems(deps, { kind: 'SETTLEMENT', index: 'by-due', partition: ['payout', 0], page })
  return items.map((item) => v.parse(SettlementSchema, item))
}

/** A new settlement, due to be paid out by an operator. */
export const recordStep = (settlement: Settlement): Step =>
  put(
    settlementKey(settlement.settlementId),
    {
      ...settlement,
      owner: settlement.clientId,
      entity: ENTITY,
      listedAt: settlement.periodEnd,
      id: settlement.settlementId,
      ...dueWork('payout', settlement.settlementId, settlement.createdAt),
    },
    isNew,
  )

/** Nothing more has gone back of it, or come again, since it was read. */
const reversedAsRead = ({ reversedCount, undoneCount }: Settlement): Condition =>
  all(unchanged('reversedCount', reversedCount), unchanged('undoneCount', undoneCount))

/**
 * `recorded` -> `manual_paid` or `failed`: terminal both, and no longer to be paid out (spec 3.2). It is not paid
 * out when money of its payments went back since it was read.
 */
export const closeStep = (settlement: Settlement): Step =>
  update(
    settlementKey(settlement.settlementId),
    {
      set: { status: settlement.status, settledAt: settlement.settledAt, notes: settlement.notes },
      remove: DUE_WORK_FIELDS,
    },
    all(equals('status', 'recorded'), ...(settlement.status === 'manual_paid' ? [reversedAsRead(settlement)] : [])),
  )

/** Marks a failed settlement as recredited, once, with what had gone back of it when it was read. */
export const markRecredited = (settlement: Settlement, at: Timestamp): Step =>
  update(
    settlementKey(settlement.settlementId),
    { set: { recreditedAt: at } },
    all(equals('status', 'failed'), absent('recreditedAt'), reversedAsRead(settlement)),
  )

/** Guards a record of what remains of a recredited settlement. */
export const checkReversedAsRead = (settlement: Settlement): Step =>
  guard(settlementKey(settlement.settlementId), reversedAsRead(settlement))

/** What went back of a settlement's payment. `sums`: of one that went back whole. */
export type ReversedOf = {
  readonly paymentId: PaymentId
  readonly sums: Omit<Sums, 'paymentCount'> | undefined
  readonly receivableId: string | undefined
  readonly at: Timestamp
}

export type UndoneOf = {
  readonly paymentId: PaymentId
  readonly sums: Omit<Sums, 'paymentCount'>
  readonly receivableId: string
}

/** Notes on a settlement that is not paid out what went back of its payments. Refused when it has left that state. */
export const noteReversedOf = (settlement: Settlement, { paymentId, sums, receivableId, at }: ReversedOf): Step => {
  const { settlementId, status, recreditedAt } = settlement
  return update(
    settlementKey(settlementId),
    {
      ...(sums && { set: { reversedAt: at } }),
      add: {
        reversedCount: 1,
        ...(sums && {
          reversedGrossMinor: sums.grossMinor,
          reversedProviderFeesMinor: sums.providerFeesMinor,
          reversedMarkupMinor: sums.markupMinor,
          reversedNetMinor: sums.netMinor,
          reversedPaymentIds: new Set([paymentId]),
        }),
        ...(receivableId !== undefined && { receivableIds: new Set([receivableId]) }),
      },
    },
    all(equals('status', status), unchanged('recreditedAt', recreditedAt)),
  )
}

/**
 * A payment that was noted on a settlement came again: it is paid out with it after all. Refused when it is not noted
 * there, or was left out by a re-credit.
 */
export const noteUndoneOf = (settlementId: SettlementId, { paymentId, sums, receivableId }: UndoneOf): Step =>
  update(
    settlementKey(settlementId),
    {
      add: {
        undoneCount: 1,
        reversedGrossMinor: less(ZERO, sums.grossMinor),
        reversedProviderFeesMinor: less(ZERO, sums.providerFeesMinor),
        reversedMarkupMinor: less(ZERO, sums.markupMinor),
        reversedNetMinor: less(ZERO, sums.netMinor),
      },
      deleteFromSet: { reversedPaymentIds: new Set([paymentId]), receivableIds: new Set([receivableId]) },
    },
    all(contains('reversedPaymentIds', paymentId), absent('recreditedAt')),
  )

/** How often a settlement is recorded anew is up to people. */
const MOST_BEFORE = 100

/** What went back of the settlements that this one stands for, and was left out of it. */
export const reversedBefore = async (
  deps: Pick<Deps, 'table'>,
  { replaces }: Settlement,
): Promise<ReadonlySet<PaymentId>> => {
  const ids = new Set<PaymentId>()
  let id = replaces
  for (let steps = 0; id !== undefined && steps < MOST_BEFORE; steps++) {
    const before: Settlement = await findAnySettlement(deps, id)
    for (const paymentId of before.reversedPaymentIds ?? []) ids.add(v.parse(PaymentIdSchema, paymentId))
    id = before.replaces
  }
  return ids
}
