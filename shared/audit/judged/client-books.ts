import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import type { Client } from '../../client/client.ts'
import { toClientDto } from '../../client/client-dto.ts'
import { findClient } from '../../client/client-store.ts'
import type { Deps, StoreDeps, TableDeps } from '../../deps.ts'
import type { ClientId, SettlementId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { Span } from '../../journal/read-entries.ts'
import { findLedger, type Ledger } from '../../ledger/ledger-store.ts'
import {
  AUDIT_RECORD_ENTITY,
  type AuditRecord,
  brokenLink,
  findAuditHead,
  readAuditRecords,
} from '../../operator/audit-record-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { type Adjustment, listAdjustments } from '../../posting/adjustment-store.ts'
import { type Settlement, SettlementSchema } from '../../settlement/settlement.ts'
import type { Item } from '../../table/attributes.ts'
import { idOf, rowKeyOf, settlementKey } from '../../table/keys.ts'
import { itemPages, type KeyedItem, keyedItems, queryPages } from '../../table/list-items.ts'
import { addMs, DAY_MS, END_OF_TIME, TimestampSchema } from '../../time.ts'
import { compare, type Difference, onlyIf, toValue } from '../../verdict/difference.ts'

export type JudgeDeps = Pick<Deps, 'table' | 'stage' | 'now'>

export type StoredSettlement = { readonly settlement: Settlement; readonly item: Item }

/** Read once. Every part of the client's audit is compared with these figures. */
export type ClientBooks = {
  readonly client: Client
  readonly clientId: ClientId
  /** Undefined if unreadable. */
  readonly ledger: Ledger | undefined
  /** Ordered by their windows. */
  readonly settlements: readonly StoredSettlement[]
  /** Where the entries after the last settlement are. */
  readonly unsettled: Pick<ClientBooks, 'clientId'> & { readonly span: Span }
  readonly adjustments: readonly Adjustment[]
  readonly clientRecords: readonly AuditRecord[]
  /** Unreadable items, and all differences of the client's fields and audit records. */
  readonly differences: readonly Difference[]
}

/** Undefined if the window is missing or a figure is invalid; the caller reports that. */
export async function readableLedger(
  deps: StoreDeps,
  clientId: ClientId,
): Promise<Ledger | undefined> {
  try {
    return await findLedger(deps, clientId)
  } catch (error) {
    if (v.isValiError(error)) return undefined
    throw error
  }
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
      else if (item) differences.push(...compare('settlement', id, 'readable', 'unreadable'))
      else differences.push(...compare('settlement', id, 'present', 'missing'))
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
  for (
    let missing = namedIds.difference(readIds);
    missing.size > 0;
    missing = namedIds.difference(readIds)
  ) {
    const ids = [...missing]
    yield read(keyedItems(ids.map(settlementKey), await deps.table.getMany(ids.map(settlementKey))))
  }
}

/** The client is read again, because an operator may have changed it meanwhile. */
export async function readClientBooks(deps: StoreDeps, clientBefore: Client): Promise<ClientBooks> {
  const { clientId } = clientBefore
  const ledger = await readableLedger(deps, clientId)
  const [client = clientBefore, pages, trail, adjustments] = await Promise.all([
    findClient(deps, clientId),
    Array.fromAsync(storedSettlements(deps, clientId, ledger?.window.lastSettlementId)),
    readTrail(deps, clientId),
    listAdjustments(deps, clientId),
  ])
  const settlements = pages
    .flatMap((page) => page.stored)
    .toSorted((a, b) => (a.settlement.sweptFrom < b.settlement.sweptFrom ? -1 : 1))
  const start = settlements.at(-1)?.settlement.sweptUntil ?? client.createdAt
  return {
    client,
    clientId,
    ledger,
    settlements,
    unsettled: { clientId, span: { start, end: v.parse(TimestampSchema, END_OF_TIME) } },
    adjustments,
    clientRecords: trail.records,
    differences: [
      ...(ledger ? [] : compare('ledger', clientId, 'readable', 'unreadable')),
      ...pages.flatMap(({ differences }) => differences),
      ...trail.differences,
      ...auditClientRecord(client, trail.records),
      ...settlements.flatMap(({ settlement: { settlementId }, item }) => [
        ...compare('settlement.owner', settlementId, clientId, toValue(item['owner'])),
        ...compare('settlement.client_id', settlementId, clientId, toValue(item['clientId'])),
      ]),
    ],
  }
}

/** Answers a difference too if a record is missing, changed or unreadable. */
export async function readTrail(deps: TableDeps, subject: string) {
  const [{ records, unreadable }, head] = await Promise.all([
    readAuditRecords(deps, subject),
    findAuditHead(deps, subject),
  ])
  // A record that is added between the two reads is a difference only in the first check.
  const chainProblem = unreadable > 0 ? `${unreadable} unreadable` : brokenLink(records, head)
  const differences = onlyIf(
    chainProblem !== undefined,
    compare('audit_record', subject, 'a complete chain', chainProblem),
  )
  return { records, differences }
}

/** No field, above all no bank detail, changes without an audit record. */
function auditClientRecord(client: Client, records: readonly AuditRecord[]): readonly Difference[] {
  const { clientId } = client
  const isChange = ({ action }: AuditRecord) =>
    action === 'create-client' || action === 'update-client'
  const last = records.toSorted((a, b) => a.number - b.number).findLast(isChange)
  if (last?.after === undefined)
    return compare('audit_record', clientId, 'a record of its creation', 'none')
  const recordedFields = last.after
  return Object.entries(toClientDto(client)).flatMap(([field, value]) => {
    if (isDeepStrictEqual(recordedFields[field], value)) return []
    // A difference must not show bank details. The audit record has them.
    if (field.startsWith('bank'))
      return compare(`client.${field}`, clientId, 'as in its audit record', 'different')
    return compare(
      `client.${field}`,
      clientId,
      JSON.stringify(recordedFields[field]) ?? 'absent',
      JSON.stringify(value),
    )
  })
}

/**
 * Payments that are open or listed in a range, not parsed: an audit reports unreadable payments.
 */
export function ownedPayments(
  deps: TableDeps,
  { clientId }: Pick<ClientBooks, 'clientId'>,
  span: readonly [string, string] | 'open',
) {
  const list =
    span === 'open'
      ? ({ index: 'by-open', partition: [clientId] } as const)
      : ({ index: 'by-owner', partition: [clientId, 'payment'], range: { between: span } } as const)
  return itemPages(deps, { kind: 'PAYMENT', ...list, limit: PAGE })
}

/** Undefined if the item is unreadable. */
export function storedPayment({ item }: KeyedItem): Payment | undefined {
  return ifValid(PaymentSchema, item)
}

/** An audit that is not full reads the changes of this time. */
const LATELY_MS = 3 * DAY_MS
const RECORDS_READ = 1_000
const SIDE_BY_SIDE = 20

/**
 * Checks the recently changed subjects, or all. `readClientBooks` checks the client's own records.
 */
export async function auditTrails(
  deps: StoreDeps,
  clientId: ClientId,
  { full }: { readonly full: boolean },
): Promise<readonly Difference[]> {
  const now = deps.now()
  const range = { between: [addMs(now, -LATELY_MS), addMs(now, DAY_MS)] } as const
  const list = {
    index: 'by-owner',
    partition: [clientId, AUDIT_RECORD_ENTITY],
    limit: RECORDS_READ,
  } as const
  const subjects = new Set<string>()
  for await (const { items: rows } of queryPages(deps, full ? list : { ...list, range })) {
    for (const row of rows) subjects.add(idOf(rowKeyOf('AUDIT', row).pk))
  }
  subjects.delete(clientId)
  const judge = async (subject: string) => (await readTrail(deps, subject)).differences
  return (await mapInChunks([...subjects], SIDE_BY_SIDE, judge)).flat()
}
