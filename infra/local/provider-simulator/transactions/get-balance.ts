import * as v from 'valibot'
import { parseInput } from '../parse-input.ts'
import type { Transaction } from '../provider-objects.ts'
import type { World } from '../world.ts'

const Query = v.object({ account_type: v.optional(v.literal('CASH', 'account_type must be CASH here'), 'CASH') })

/** A payment reaches the account when it settles, everything else when it succeeds. A row that turned moves nothing. */
const movedBy = ({ type, status, settlement_status: settlement, net_amount: net, cashflow }: Transaction): number => {
  if (status !== 'SUCCESS' || (type === 'PAYMENT' && settlement !== 'SETTLED')) return 0
  return cashflow === 'MONEY_OUT' ? -Math.abs(net) : net
}

/** `GET /balance`: what the account holds now, by its rows. */
export const getBalance = (world: World, search: URLSearchParams): { readonly balance: number } => {
  parseInput(Query, Object.fromEntries(search))
  return { balance: world.store.transactions.all().reduce((sum, { row }) => sum + movedBy(row), 0) }
}
