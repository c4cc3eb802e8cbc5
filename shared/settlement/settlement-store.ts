import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { type ClientId, SettlementIdSchema } from '../ids.ts'
import type { Page } from '../page.ts'
import { settlementKey } from '../table/keys.ts'
import { listItems } from '../table/list.ts'
import { getItem } from '../table/read.ts'
import { type Settlement, SettlementSchema } from './settlement.ts'

type StoreDeps = Pick<Deps, 'table' | 'sleep' | 'random'>

/** One settlement of a client (spec 4.7); an absent id and another client's throw the same 404. */
export const findSettlement = async (deps: StoreDeps, clientId: ClientId, id: string): Promise<Settlement> => {
  const settlementId = v.safeParse(SettlementIdSchema, id)
  if (!settlementId.success) throw notFound('settlement')
  const item = await getItem(deps, settlementKey(settlementId.output))
  const settlement = item && v.parse(SettlementSchema, item)
  if (settlement?.clientId !== clientId) throw notFound('settlement')
  return settlement
}

/** A client's settlements, newest period first (spec 4.6). */
export const listSettlements = async (
  deps: StoreDeps,
  clientId: ClientId,
  page: Page,
): Promise<readonly Settlement[]> => {
  const items = await listItems(deps, { index: 'by-owner', partition: [clientId, 'settlement'], page })
  return items.map((item) => v.parse(SettlementSchema, item))
}
