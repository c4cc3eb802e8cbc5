import * as v from 'valibot'
import { ttlOf } from '../../../shared/audit/rows/row-differences.ts'
import { ApiKeySchema, apiKeyRow } from '../../../shared/client/api-key-store.ts'
import { ClientSchema } from '../../../shared/client/client.ts'
import { clientRow } from '../../../shared/client/client-store.ts'
import { assertInvariant } from '../../../shared/errors.ts'
import { eventRow } from '../../../shared/event/event-store.ts'
import { EventSchema } from '../../../shared/event/read-events.ts'
import {
  ClientIdSchema,
  DeliveryIdSchema,
  PaymentIdSchema,
  SettlementIdSchema,
} from '../../../shared/ids.ts'
import { entryRow, parseEntry } from '../../../shared/journal/entry-store.ts'
import {
  HouseEntrySchema,
  HouseTotalSchema,
  rowDayOf,
} from '../../../shared/journal/house-store.ts'
import { ShardSchema, shardRow } from '../../../shared/ledger/shard-store.ts'
import { WindowSchema } from '../../../shared/ledger/window-store.ts'
import { ApprovalSchema, approvalIdOf } from '../../../shared/operator/approval-store.ts'
import {
  AuditHeadSchema,
  AuditRecordSchema,
  auditRecordRow,
} from '../../../shared/operator/audit-record-store.ts'
import { paymentRow, pointerRow } from '../../../shared/payment/creating-store.ts'
import { PaymentSchema } from '../../../shared/payment/payment-store.ts'
import { AdjustmentSchema } from '../../../shared/posting/adjustment-store.ts'
import { HouseAdjustmentSchema } from '../../../shared/posting/house-adjustment-store.ts'
import { BatchSchema } from '../../../shared/settlement/batch/batch.ts'
import { SettlementSchema } from '../../../shared/settlement/settlement.ts'
import { bankReferenceRow, settlementRow } from '../../../shared/settlement/settlement-store.ts'
import { NotedSchema, SuspenseSchema } from '../../../shared/suspense/suspense.ts'
import { suspenseRow } from '../../../shared/suspense/suspense-store.ts'
import { headRow } from '../../../shared/sync/head-store.ts'
import { HeadSchema } from '../../../shared/sync/job-store.ts'
import { type Item } from '../../../shared/table/attributes.ts'
import * as keys from '../../../shared/table/keys.ts'
import { TimestampSchema } from '../../../shared/time.ts'
import { VerdictSchema } from '../../../shared/verdict/verdict-store.ts'
import { DeliveryAttemptSchema, DeliverySchema } from '../../../shared/webhook/delivery/delivery.ts'
import { deliveryRow, keyOfDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import { SealedEndpointSchema } from '../../../shared/webhook/endpoint/endpoint.ts'
import { endpointRow } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { attemptRow } from '../../../shared/webhook/send/attempt-store.ts'

/** A row as its kind makes it, with the names of fields. */
type Row = { readonly key: keys.Key; readonly fields: object }

type StoredItem = Item & keys.Key

/** Makes the row again from the thing that the stored row holds. Throws for an unreadable row. */
type Remake = (item: StoredItem) => Row

/** Undefined for a kind that no audit reads. Throws for an unreadable row. */
export function remadeRow(item: StoredItem) {
  return KINDS[kindOf(item)]?.(item)
}

/** The kinds of rows by partition and beginning of the sort key. */
const KINDS: Readonly<Record<string, Remake>> = {
  client: kind(ClientSchema, ({ clientId }) => keys.clientKey(clientId), clientRow),
  api_key: kind(ApiKeySchema, ({ keyId }) => keys.apiKeyKey(keyId), apiKeyRow),
  endpoint: kind(SealedEndpointSchema, keys.endpointKey, (endpoint) =>
    endpointRow({ ...endpoint, deletedAt: undefined }),
  ),
  deleted_endpoint: kind(SealedEndpointSchema, keys.deletedEndpointKey, (endpoint) => {
    assertInvariant(endpoint.deletedAt !== undefined, 'a deleted endpoint has a time')
    return endpointRow(endpoint)
  }),
  payment: kind(PaymentSchema, ({ paymentId }) => keys.paymentKey(paymentId), paymentRow),
  event: kind(
    EventSchema,
    ({ subject, name }) => keys.eventKey(subject, name),
    (event, item) => eventRow({ ...event, ...ttlOf(item) }),
  ),
  delivery: kind(DeliverySchema, keyOfDelivery, (delivery, item) =>
    deliveryRow({ ...delivery, ...ttlOf(item) }),
  ),
  attempt: kind(
    DeliveryAttemptSchema,
    ({ number }, item) => {
      const key = keys.isTestKey(item) ? keys.testAttemptKey : keys.attemptKey
      return key(v.parse(DeliveryIdSchema, keys.idOf(item.pk)), number)
    },
    attemptRow,
  ),
  shard: (item) => {
    const shard = v.parse(ShardSchema, { ...item, number: keys.shardNumberOf(item.sk) })
    return { key: keys.shardKey(ownerOf(item), shard.number), fields: shardRow(shard) }
  },
  approval: kind(ApprovalSchema, (approval) => keys.approvalKey(approvalIdOf(approval))),
  batch: kind(BatchSchema, ({ number }) => keys.batchKey(number)),
  window: kind(WindowSchema, (_, item) => keys.windowKey(ownerOf(item))),
  entry: (item) => {
    const entry = parseEntry(item)
    return { key: keys.entryKey(ownerOf(item), entry), fields: entryRow(entry) }
  },
  house_entry: kind(HouseEntrySchema, (entry) =>
    keys.houseEntryKey(rowDayOf(entry), entry.transactionId, entry.type),
  ),
  house_total: kind(HouseTotalSchema, ({ day, type }) => keys.houseTotalKey(day, type)),
  adjustment: kind(AdjustmentSchema, ({ clientId, reference }) =>
    keys.adjustmentKey(clientId, reference),
  ),
  house_adjustment: kind(HouseAdjustmentSchema, ({ reference }) =>
    keys.houseAdjustmentKey(reference),
  ),
  settlement: kind(
    SettlementSchema,
    ({ settlementId }) => keys.settlementKey(settlementId),
    settlementRow,
  ),
  suspense: kind(
    SuspenseSchema,
    ({ suspenseId }) => keys.suspenseKey(suspenseId),
    (suspense, item) => suspenseRow({ ...suspense, dueAt: v.parse(Due, item).dueAt }),
  ),
  noted: kind(NotedSchema, keys.notedKey),
  verdict: kind(VerdictSchema, ownKey),
  audit_record: (item) => {
    const record = v.parse(AuditRecordSchema, item)
    const id = item.sk.slice(item.sk.indexOf('#') + 1)
    const clientId = v.parse(v.optional(v.string()), item['owner'])
    return {
      key: keys.auditRecordKey(record.subject, record.at, id),
      fields: auditRecordRow(record, { clientId, id }),
    }
  },
  audit_head: kind(AuditHeadSchema, ownKey),
  pointer: kind(v.object({ paymentId: PaymentIdSchema }), ownKey, pointerRow),
  bank_reference: kind(v.object({ settlementId: SettlementIdSchema }), ownKey, ({ settlementId }) =>
    bankReferenceRow(settlementId),
  ),
  sync_head: kind(HeadSchema, () => keys.syncJobKey('head'), headRow),
}

function kind<Thing extends object>(
  schema: v.GenericSchema<unknown, Thing>,
  keyOf: (thing: Thing, item: StoredItem) => keys.Key,
  fieldsOf: (thing: Thing, item: StoredItem) => object = (thing) => thing,
): Remake {
  return (item) => {
    const thing = v.parse(schema, item)
    return { key: keyOf(thing, item), fields: fieldsOf(thing, item) }
  }
}

function ownKey(_: object, { pk, sk }: keys.Key) {
  return { pk, sk }
}

export const AUDITED_KINDS = Object.keys(KINDS)

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
export function kindOf(item: StoredItem) {
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

function ownerOf({ pk }: keys.Key) {
  return v.parse(ClientIdSchema, keys.idOf(pk))
}

const Due = v.object({ dueAt: v.optional(TimestampSchema) })
