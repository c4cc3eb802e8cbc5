import * as v from 'valibot'
import { ApiKeySchema, apiKeyRow } from '../../client/api-key-store.ts'
import { ClientSchema } from '../../client/client.ts'
import { clientRow } from '../../client/client-store.ts'
import { assertInvariant } from '../../errors.ts'
import { eventRow } from '../../event/event-store.ts'
import { EventSchema } from '../../event/read-events.ts'
import {
  ClientIdSchema,
  DeliveryIdSchema,
  PaymentIdSchema,
  type SettlementId,
  SettlementIdSchema,
} from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { entryRow, parseEntry } from '../../journal/entry-store.ts'
import { HouseEntrySchema, HouseTotalSchema, rowDayOf } from '../../journal/house-store.ts'
import { ShardSchema, shardRow } from '../../ledger/shard-store.ts'
import { WindowSchema } from '../../ledger/window-store.ts'
import { ApprovalSchema, approvalIdOf } from '../../operator/approval-store.ts'
import {
  AuditHeadSchema,
  AuditRecordSchema,
  auditRecordRow,
} from '../../operator/audit-record-store.ts'
import { paymentRow, pointerRow } from '../../payment/creating-store.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { AdjustmentSchema } from '../../posting/adjustment-store.ts'
import { HouseAdjustmentSchema } from '../../posting/house-adjustment-store.ts'
import { BatchSchema } from '../../settlement/batch/batch.ts'
import { SettlementSchema } from '../../settlement/settlement.ts'
import { bankReferenceRow, settlementRow } from '../../settlement/settlement-store.ts'
import { NotedSchema, SuspenseSchema } from '../../suspense/suspense.ts'
import { suspenseRow } from '../../suspense/suspense-store.ts'
import { headRow } from '../../sync/head-store.ts'
import { HeadSchema } from '../../sync/job-store.ts'
import { type Item } from '../../table/attributes.ts'
import * as keys from '../../table/keys.ts'
import { TimestampSchema } from '../../time.ts'
import { ClientVerdictSchema } from '../../verdict/client-verdict-store.ts'
import { compare, type Difference, tryToMake } from '../../verdict/difference.ts'
import { DeliveryAttemptSchema, DeliverySchema } from '../../webhook/delivery/delivery.ts'
import { deliveryRow, keyOfDelivery } from '../../webhook/delivery/delivery-store.ts'
import { SealedEndpointSchema } from '../../webhook/endpoint/endpoint.ts'
import { endpointRow } from '../../webhook/endpoint/endpoint-store.ts'
import { attemptRow } from '../../webhook/send/attempt-store.ts'
import { rowDifferences } from './row-differences.ts'

/** A row as its kind makes it, with the names of fields. */
type Row = { readonly key: keys.Key; readonly fields: object }

type StoredItem = Item & keys.Key

/** Makes the row again from the thing that the stored row holds. Throws for an unreadable row. */
type Remake = (item: StoredItem) => Row

/** The kinds of rows by partition and beginning of the sort key. */
const KINDS: Readonly<Record<string, Remake>> = {
  client: (item) => {
    const client = v.parse(ClientSchema, item)
    return row(keys.clientKey(client.clientId), clientRow(client))
  },
  api_key: (item) => {
    const key = v.parse(ApiKeySchema, item)
    return row(keys.apiKeyKey(key.keyId), apiKeyRow(key))
  },
  endpoint: (item) => {
    const endpoint = v.parse(SealedEndpointSchema, item)
    return row(keys.endpointKey(endpoint), endpointRow({ ...endpoint, deletedAt: undefined }))
  },
  deleted_endpoint: (item) => {
    const endpoint = v.parse(SealedEndpointSchema, item)
    assertInvariant(endpoint.deletedAt !== undefined, 'a deleted endpoint has a time')
    return row(keys.deletedEndpointKey(endpoint), endpointRow(endpoint))
  },
  payment: (item) => {
    const payment = v.parse(PaymentSchema, item)
    return row(keys.paymentKey(payment.paymentId), paymentRow(payment))
  },
  event: (item) => {
    const event = v.parse(EventSchema, item)
    return row(keys.eventKey(event.subject, event.name), eventRow({ ...event, ...ttlOf(item) }))
  },
  delivery: (item) => {
    const delivery = v.parse(DeliverySchema, item)
    return row(keyOfDelivery(delivery), deliveryRow({ ...delivery, ...ttlOf(item) }))
  },
  attempt: (item) => {
    const attempt = v.parse(DeliveryAttemptSchema, item)
    const deliveryId = v.parse(DeliveryIdSchema, keys.idOf(item.pk))
    const key = keys.isTestKey(item) ? keys.testAttemptKey : keys.attemptKey
    return row(key(deliveryId, attempt.number), attemptRow(attempt))
  },
  shard: (item) => {
    const shard = v.parse(ShardSchema, { ...item, number: keys.shardNumberOf(item.sk) })
    return row(keys.shardKey(ownerOf(item), shard.number), shardRow(shard))
  },
  approval: (item) => {
    const approval = v.parse(ApprovalSchema, item)
    return row(keys.approvalKey(approvalIdOf(approval)), approval)
  },
  batch: (item) => {
    const batch = v.parse(BatchSchema, item)
    return row(keys.batchKey(batch.number), batch)
  },
  window: (item) => row(keys.windowKey(ownerOf(item)), v.parse(WindowSchema, item)),
  entry: (item) => {
    const entry = parseEntry(item)
    return row(keys.entryKey(ownerOf(item), entry), entryRow(entry))
  },
  house_entry: (item) => {
    const entry = v.parse(HouseEntrySchema, item)
    return row(keys.houseEntryKey(rowDayOf(entry), entry.transactionId, entry.type), entry)
  },
  house_total: (item) => {
    const total = v.parse(HouseTotalSchema, item)
    return row(keys.houseTotalKey(total.day, total.type), total)
  },
  adjustment: (item) => {
    const adjustment = v.parse(AdjustmentSchema, item)
    return row(keys.adjustmentKey(adjustment.clientId, adjustment.reference), adjustment)
  },
  house_adjustment: (item) => {
    const adjustment = v.parse(HouseAdjustmentSchema, item)
    return row(keys.houseAdjustmentKey(adjustment.reference), adjustment)
  },
  settlement: (item) => {
    const settlement = v.parse(SettlementSchema, item)
    return row(keys.settlementKey(settlement.settlementId), settlementRow(settlement))
  },
  suspense: (item) => {
    const suspense = v.parse(SuspenseSchema, item)
    const { dueAt } = v.parse(Due, item)
    return row(keys.suspenseKey(suspense.suspenseId), suspenseRow({ ...suspense, dueAt }))
  },
  noted: (item) => {
    const noted = v.parse(NotedSchema, item)
    return row(keys.notedKey(noted), noted)
  },
  verdict: (item) => row(keyOf(item), v.parse(ClientVerdictSchema, item)),
  audit_record: (item) => {
    const record = v.parse(AuditRecordSchema, item)
    const { subject, at } = record
    const id = item.sk.slice(item.sk.indexOf('#') + 1)
    const clientId = v.parse(v.optional(v.string()), item['owner'])
    return row(keys.auditRecordKey(subject, at, id), auditRecordRow(record, { clientId, id }))
  },
  audit_head: (item) => row(keyOf(item), v.parse(AuditHeadSchema, item)),
  pointer: (item) => row(keyOf(item), pointerRow(v.parse(PointerSchema, item))),
  bank_reference: (item) => row(keyOf(item), bankReferenceRow(settlementIdOf(item))),
  sync_head: (item) => row(keys.syncJobKey('head'), headRow(v.parse(HeadSchema, item))),
}

export const AUDITED_KINDS = Object.keys(KINDS)

/** Undefined for a kind that no audit reads. Throws for an unreadable row. */
export function remadeRow(item: StoredItem): Row | undefined {
  return KINDS[kindOf(item)]?.(item)
}

const KIND_OF_SK: Readonly<Record<string, string>> = {
  'ENDPOINTS GONE': 'deleted_endpoint',
  'DELIVERY ATTEMPT': 'attempt',
  'TEST ATTEMPT': 'attempt',
  'LEDGER SHARD': 'shard',
  'LEDGER WINDOW': 'window',
  'AUDIT HEAD': 'audit_head',
}
const KIND_OF_PARTITION: Readonly<Record<string, string>> = {
  APIKEY: 'api_key',
  ENDPOINTS: 'endpoint',
  JOURNAL: 'entry',
  HOUSE: 'house_total',
  AUDIT: 'audit_record',
  DESTINATION: 'pointer',
  PAYOUTREF: 'bank_reference',
  REFERENCE: 'pointer',
  TEST: 'delivery',
}

/** The kind of a row by its key, and where one key may have two kinds, by its attributes. */
export function kindOf(item: StoredItem): string {
  const partition = item.pk.slice(0, item.pk.indexOf('#'))
  if (item.pk === keys.syncJobKey('head').pk) return 'sync_head'
  if (item.pk.startsWith(keys.houseDayPk(''))) return 'house_entry'
  if (item.pk === keys.HOUSE_ADJUSTMENTS_PK) return 'house_adjustment'
  if (partition === 'PAYMENT' && item['status'] === 'creating') return 'creating_payment'
  const start = item.sk.split('#', 1)[0] ?? ''
  return (
    KIND_OF_SK[`${partition} ${start}`] ?? KIND_OF_PARTITION[partition] ?? partition.toLowerCase()
  )
}

function row(key: keys.Key, fields: object): Row {
  return { key, fields }
}

function keyOf({ pk, sk }: keys.Key): keys.Key {
  return { pk, sk }
}

function ownerOf({ pk }: keys.Key) {
  return v.parse(ClientIdSchema, keys.idOf(pk))
}

/** When the table deletes the row. */
export function ttlOf({ ttl }: Item): { readonly ttl: number | undefined } {
  return { ttl: ifValid(v.number(), ttl) }
}

const Due = v.object({ dueAt: v.optional(TimestampSchema) })

const PointerSchema = v.object({ paymentId: PaymentIdSchema })

function settlementIdOf(item: Item): SettlementId {
  return v.parse(v.object({ settlementId: SettlementIdSchema }), item).settlementId
}

/** A row that holds its own facts is as its kind makes it, under its own key. */
export function ownDifferences(item: Item, id: string): readonly Difference[] {
  const stored = { ...item, pk: String(item['pk']), sk: String(item['sk']) }
  const kind = kindOf(stored)
  const made = tryToMake(() => remadeRow(stored))
  if (made === undefined) return compare(kind, id, 'readable', 'unreadable')
  const [key, ownKey] = [made.key, stored].map(({ pk, sk }) => `${pk} ${sk}`)
  return [
    ...compare(`${kind}.key`, id, key, ownKey),
    ...rowDifferences(kind, id, made.fields, item),
  ]
}
