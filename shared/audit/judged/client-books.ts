import { type Client, ClientSchema } from '../../client/client.ts'
import { clientRow } from '../../client/client-store.ts'
import type { Deps, StoreDeps, TableDeps } from '../../deps.ts'
import type { ClientId, SettlementId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { Span } from '../../journal/read-entries.ts'
import { balanceOf, type Ledger } from '../../ledger/ledger-store.ts'
import { ShardSchema } from '../../ledger/shard-store.ts'
import { WindowSchema } from '../../ledger/window-store.ts'
import { type AuditRecord, readAuditRecords } from '../../operator/audit-record-store.ts'
import type { Adjustment } from '../../posting/adjustment-store.ts'
import { hasSwept, type Settlement, SettlementSchema } from '../../settlement/settlement.ts'
import type { Item } from '../../table/attributes.ts'
import {
  adjustmentsPk,
  clientKey,
  idOf,
  ledgerPk,
  settlementKey,
  shardNumberOf,
  WINDOW_SK,
} from '../../table/keys.ts'
import { itemPages, type KeyedItem, keyedItems, queryAll } from '../../table/list-items.ts'
import type { Reads } from '../../table/table.ts'
import { DAY_MS, END_OF_TIME, type Timestamp } from '../../time.ts'
import {
  compare,
  type Difference,
  missingRow,
  toValue,
  tryToMake,
  unreadableRow,
} from '../../verdict/difference.ts'
import { recordedDifferences, rowDifferences } from '../rows/row-differences.ts'
import { readTrail } from './audit-trails.ts'
import { adjustmentsIn, clientIn } from './derive-client.ts'

/** Older rows are read eventually, because they no longer move. */
export const OLD_MS = 2 * DAY_MS

export type JudgeDeps = Pick<Deps, 'table' | 'stage' | 'now' | 'sleep'>

export type StoredSettlement = { readonly settlement: Settlement; readonly item: Item }

/** Read once. Every part of the client's audit is compared with these figures. */
export type ClientBooks = {
  readonly client: Client
  readonly clientId: ClientId
  /** When the read began, with the shards. */
  readonly readAt: Timestamp
  /** Undefined without a readable window. */
  readonly ledger: Ledger | undefined
  /** By the number of a shard, `window`, or the key of a row that is neither. */
  readonly ledgerRows: ReadonlyMap<number | string, Item>
  /** Ordered by their windows. */
  readonly settlements: readonly StoredSettlement[]
  /** Where the entries after the last settlement are. */
  readonly unsettled: Pick<ClientBooks, 'clientId'> & { readonly span: Span }
  readonly adjustments: readonly Adjustment[]
  readonly clientRecords: readonly AuditRecord[]
  /** Unreadable items, and all differences of the client's fields and audit records. */
  readonly differences: readonly Difference[]
}

/** Undefined if the window cannot be read, or the sums are no amounts; the caller reports that. */
export async function readableLedger(deps: TableDeps, clientId: ClientId) {
  return (await readLedgerRows(deps, clientId)).ledger
}

/** The rows under the number of their shard, or `window`. An unreadable shard is left out. */
async function readLedgerRows(deps: TableDeps, clientId: ClientId) {
  const items = await queryAll(deps, { partition: [ledgerPk(clientId)], limit: PAGE })
  const numberOf = ({ sk }: Item) =>
    sk === WINDOW_SK ? 'window' : (shardNumberOf(String(sk)) ?? String(sk))
  const ledgerRows = new Map(items.map((item) => [numberOf(item), item] as const))
  const window = ifValid(WindowSchema, ledgerRows.get('window'))
  const shards = [...ledgerRows].flatMap(([number, item]) =>
    typeof number === 'string' ? [] : (ifValid(ShardSchema, { ...item, number }) ?? []),
  )
  const ledger = window && { window, shards }
  const balance = ledger && tryToMake(() => balanceOf(ledger))
  return { ledgerRows, ledger: balance && ledger }
}

/** Rows of the ledger that no flow writes. */
export function strayRows(rows: ClientBooks['ledgerRows']) {
  return [...rows.keys()].flatMap((name) =>
    typeof name === 'number' || name === 'window'
      ? []
      : compare('ledger_row', name, 'none', 'present'),
  )
}

/** So many items and their events are in memory at the same time. */
const PAGE = 500

/**
 * A client's settlements, and a difference for each missing or unreadable settlement. Settlements
 * that only other items name are read too, because the index may lag.
 */
export async function* storedSettlements(
  deps: TableDeps,
  clientId: ClientId,
  lastId: SettlementId | undefined,
): AsyncGenerator<{
  readonly stored: readonly StoredSettlement[]
  readonly differences: readonly Difference[]
}> {
  const readIds = new Set<string>()
  const namedIds = new Set<SettlementId>(lastId && [lastId])
  const read = (page: readonly KeyedItem[]) => {
    const stored: StoredSettlement[] = []
    const differences: Difference[] = []
    for (const { key, item } of page) {
      const id = idOf(key.pk)
      readIds.add(id)
      const settlement = ifValid(SettlementSchema, item)
      if (settlement?.previousId) namedIds.add(settlement.previousId)
      if (item && settlement?.settlementId === id) stored.push({ settlement, item })
      else if (item) differences.push(...unreadableRow('settlement', id))
      else differences.push(...missingRow('settlement', id))
    }
    return { stored, differences }
  }
  const list = {
    kind: 'SETTLEMENT',
    index: 'by-owner',
    partition: [clientId, 'settlement'],
    limit: PAGE,
  } as const
  for await (const page of itemPages(deps, list)) yield read(page)
  const unread = () => [...namedIds.difference(readIds)]
  for (let ids = unread(); ids.length > 0; ids = unread()) {
    const keys = ids.map(settlementKey)
    yield read(keyedItems(keys, await deps.table.getMany(keys)))
  }
}

/** All settlements of a client, in the order of their windows. */
export async function readStoredSettlements(
  deps: TableDeps,
  clientId: ClientId,
  lastId: SettlementId | undefined,
) {
  const pages = await Array.fromAsync(storedSettlements(deps, clientId, lastId))
  return {
    settlements: pages
      .flatMap(({ stored }) => stored)
      .toSorted((a, b) => (a.settlement.sweptFrom < b.settlement.sweptFrom ? -1 : 1)),
    differences: pages.flatMap(({ differences }) => differences),
  }
}

/** The client as its chain says; without records, as its row says. */
export async function findAuditedClient(deps: TableDeps, clientId: ClientId) {
  const { records } = await readAuditRecords(deps, clientId)
  return clientIn(records) ?? ifValid(ClientSchema, await deps.table.get(clientKey(clientId)))
}

/** The client is read again, because an operator may have changed it meanwhile. */
export async function readClientBooks(deps: StoreDeps, clientBefore: Client): Promise<ClientBooks> {
  const { clientId } = clientBefore
  const readAt = deps.now()
  const { ledger, ledgerRows } = await readLedgerRows(deps, clientId)
  const [{ row, trail, said, unlikeTrail }, stored, adjustmentItems] = await Promise.all([
    readRowAndTrail(deps, clientId),
    readStoredSettlements(deps, clientId, ledger?.window.lastSettlementId),
    queryAll(deps, { partition: [adjustmentsPk(clientId)], limit: PAGE }),
  ])
  const client = said ?? ifValid(ClientSchema, row) ?? clientBefore
  const adjustmentRows = new Map(adjustmentItems.map((item) => [String(item['sk']), item]))
  const adjustments = adjustmentsIn(clientId, trail.records, adjustmentRows)
  const recorded = new Map(adjustments.map((one) => [one.reference, one]))
  const { settlements } = stored
  const start = settlements.at(-1)?.settlement.sweptUntil ?? client.createdAt
  return {
    client,
    clientId,
    readAt,
    ledger,
    ledgerRows,
    settlements,
    unsettled: { clientId, span: { start, end: END_OF_TIME } },
    adjustments,
    clientRecords: trail.records,
    differences: [
      ...(ledger ? [] : unreadableRow('window', clientId)),
      ...stored.differences,
      ...trail.differences,
      ...unlikeTrail,
      ...recordedDifferences('adjustment', recorded, adjustmentRows),
      ...settlements.flatMap(({ settlement: { settlementId }, item }) => [
        ...compare('settlement.owner', settlementId, clientId, toValue(item['owner'])),
        ...compare('settlement.client_id', settlementId, clientId, toValue(item['clientId'])),
      ]),
    ],
  }
}

const MAX_READS = 3

/**
 * `unlikeTrail`: the row differs from what its records say. It may have changed between the two
 * reads, so both are then read again.
 */
async function readRowAndTrail(deps: TableDeps, clientId: ClientId) {
  for (let reads = 1; ; reads++) {
    const [row, trail] = await Promise.all([
      deps.table.get(clientKey(clientId)),
      readTrail(deps, clientId, clientId),
    ])
    const said = clientIn(trail.records)
    const unlikeTrail = said
      ? rowDifferences('client', clientId, clientRow(said), row)
      : compare('audit_record', clientId, 'a record of its creation', 'none')
    if (unlikeTrail.length === 0 || reads === MAX_READS) return { row, trail, said, unlikeTrail }
  }
}

/**
 * The settlement, and those whose sums it pays again: failed ones that were re-credited, and paid
 * ones that came back, directly or in turn.
 */
export function withCarried(
  { settlements }: Pick<ClientBooks, 'settlements'>,
  own: StoredSettlement,
) {
  const carriers = [own]
  const isIn = ({ settlement: { recreditedAt, returnedAt } }: StoredSettlement) =>
    carriers.some(({ settlement }) =>
      [recreditedAt, returnedAt].some((at) => at !== undefined && hasSwept(settlement, at)),
    )
  // A settlement is older than the settlements that carry it.
  for (const stored of settlements.toReversed())
    if (stored !== own && isIn(stored)) carriers.push(stored)
  return carriers
}

/** Not parsed: an audit reports unreadable payments. */
export function openPaymentPages(deps: TableDeps, clientId: ClientId, reads: Reads) {
  const list = { index: 'by-open', partition: [clientId] } as const
  return itemPages(deps, { kind: 'PAYMENT', ...list, limit: PAGE, reads })
}
