import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import type { PaymentStatus } from '../payment-status.ts'
import { ledgerPk, shardNumberOf, WINDOW_SK } from '../table/keys.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import { COUNT_FIELD, type LedgerShard, ShardSchema } from './shard-store.ts'
import { type Window, WindowSchema } from './window-store.ts'

export type Ledger = { readonly shards: readonly LedgerShard[]; readonly window: Window }

/** Rows that no flow has written are not read. */
const MOST_ROWS = 100

/**
 * Reads 17 small items in one consistent query. Throws when one is missing: a sum of the others
 * would be wrong.
 */
export async function readLedger(deps: TableDeps, clientId: ClientId): Promise<Ledger> {
  const partition = [ledgerPk(clientId)]
  const { items, cursor } = await deps.table.query({ partition, limit: MOST_ROWS })
  assertInvariant(cursor === undefined, 'a ledger fits one page')
  const window = items.find(({ sk }) => sk === WINDOW_SK)
  assertInvariant(window !== undefined, 'a client has no window')
  const shards = items
    .map((item) => ({ ...item, number: shardNumberOf(String(item['sk'])) }))
    .flatMap((item) => (item.number === undefined ? [] : v.parse(ShardSchema, item)))
  assertInvariant(shards.length === LEDGER_SHARDS, 'a shard of the ledger is missing')
  return { shards, window: v.parse(WindowSchema, window) }
}

export function countOf({ shards }: Pick<Ledger, 'shards'>, status: PaymentStatus): number {
  return shards.reduce((sum, shard) => sum + shard[COUNT_FIELD[status]], 0)
}

export function creditedOf({ shards }: Pick<Ledger, 'shards'>): Minor {
  return shards.reduce((sum, { creditedMinor }) => plus(sum, creditedMinor), ZERO)
}

/**
 * Pending is all credits less what settlements have taken (spec 2.2). `updatedAt` is undefined
 * before any payment.
 */
export function balanceOf(ledger: Ledger) {
  const { shards, window } = ledger
  const { availableMinor, inSettlementMinor, paidOutMinor } = window
  const takenMinor = plus(plus(availableMinor, inSettlementMinor), paidOutMinor)
  const times = [...shards.map(({ creditedAt }) => creditedAt), window.changedAt].filter(
    (time) => time !== undefined,
  )
  return {
    availableMinor,
    pendingMinor: less(creditedOf(ledger), takenMinor),
    inSettlementMinor,
    paidOutMinor,
    updatedAt: times.toSorted().at(-1),
  }
}

export type Balance = ReturnType<typeof balanceOf>

/** Strongly consistent, at a cost that does not depend on the number of payments (spec 4.5). */
export async function getBalance(deps: TableDeps, clientId: ClientId): Promise<Balance> {
  return balanceOf(await readLedger(deps, clientId))
}
