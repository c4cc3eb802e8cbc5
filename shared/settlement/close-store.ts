import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { type SettlementId, SettlementIdSchema } from '../ids.ts'
import { bankReferenceKey, settlementKey } from '../table/keys.ts'
import {
  absent,
  all,
  DUE_WORK_FIELDS,
  equals,
  exists,
  isNew,
  put,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import type { Timestamp } from '../time.ts'
import { type LeftOut, type Settlement, SettlementSchema } from './settlement.ts'

/** One settlement of any client, for operators. Throws 404. */
export const findAnySettlement = async (deps: TableDeps, id: string): Promise<Settlement> => {
  const settlementId = v.safeParse(SettlementIdSchema, id)
  const item = settlementId.success ? await deps.table.get(settlementKey(settlementId.output)) : undefined
  if (item === undefined) throw notFound('settlement')
  return v.parse(SettlementSchema, item)
}

/** Moves from `recorded` to `manual_paid` or `failed`: both are terminal and no longer wait for a payout (spec 3.2). */
export const closeStep = ({ settlementId, status, settledAt, notes, bankReference }: Settlement): Step =>
  update(
    settlementKey(settlementId),
    { set: { status, settledAt, notes, bankReference }, remove: DUE_WORK_FIELDS },
    equals('status', 'recorded'),
  )

export const markRecredited = (settlementId: SettlementId, at: Timestamp): Step =>
  update(
    settlementKey(settlementId),
    { set: { recreditedAt: at } },
    all(equals('status', 'failed'), absent('recreditedAt')),
  )

/** Notes entries of its window that its sums lack. Refused when others were noted since it was read. */
export const noteLeftOut = ({ settlementId, leftOut }: Settlement, added: readonly LeftOut[]): Step =>
  update(
    settlementKey(settlementId),
    { set: { leftOut: [...(leftOut ?? []), ...added] } },
    all(exists, unchanged('leftOut', leftOut)),
  )

/** A bank reference pays out one settlement. Refused when it has paid out another. */
export const putBankReference = (reference: string, settlementId: SettlementId): Step =>
  put(bankReferenceKey(reference), { settlementId }, isNew)
