import { isDeepStrictEqual } from 'node:util'
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
import { HouseAdjustmentSchema } from '../../posting/adjust-house.ts'
import { AdjustmentSchema } from '../../posting/adjustment-store.ts'
import { SettlementSchema } from '../../settlement/settlement.ts'
import { bankReferenceRow, settlementRow } from '../../settlement/settlement-store.ts'
import { NotedSchema, SuspenseSchema } from '../../suspense/suspense.ts'
import { suspenseRow } from '../../suspense/suspense-store.ts'
import { headRow } from '../../sync/head-store.ts'
import { HeadSchema } from '../../sync/job-store.ts'
import { type Item, toItem } from '../../table/attributes.ts'
import { inflateText } from '../../table/deflated-text.ts'
import * as keys from '../../table/keys.ts'
import { TimestampSchema } from '../../time.ts'
import { ClientVerdictSchema } from '../../verdict/client-verdict-store.ts'
import {
  compare,
  type Difference,
  toValue,
  tryToMake,
  unknownName,
} from '../../verdict/difference.ts'
import { DeliveryAttemptSchema, DeliverySchema } from '../../webhook/delivery/delivery.ts'
import { deliveryRow, keyOfDelivery } from '../../webhook/delivery/delivery-store.ts'
import { SealedEndpointSchema } from '../../webhook/endpoint/endpoint.ts'
import { endpointRow } from '../../webhook/endpoint/endpoint-store.ts'
import { attemptRow } from '../../webhook/send/attempt-store.ts'

/** A row as its kind makes it, with the names of fields. */
export type Row = { readonly key: keys.Key; readonly fields: object }

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
    const number = keys.shardNumberOf(item.sk)
    return row(
      keys.shardKey(ownerOf(item), number),
      shardRow(v.parse(ShardSchema, { ...item, number })),
    )
  },
  approval: (item) => {
    const approval = v.parse(ApprovalSchema, item)
    return row(keys.approvalKey(approvalIdOf(approval)), approval)
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
  'REFERENCE PAYOUT': 'bank_reference',
}
const KIND_OF_PARTITION: Readonly<Record<string, string>> = {
  APIKEY: 'api_key',
  ENDPOINTS: 'endpoint',
  JOURNAL: 'entry',
  HOUSE: 'house_total',
  AUDIT: 'audit_record',
  DESTINATION: 'pointer',
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

/**
 * The attributes in which two rows differ. Zero, an empty list, an empty record and an absent
 * attribute are equal; deflated texts are compared as texts.
 */
export function differingAttributes(expected: object, found: object): readonly string[] {
  return differing(comparable(expected), comparable(found))
}

function differing(one: Item, other: Item): readonly string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return names.filter((name) => !isDeepStrictEqual(one[name], other[name])).toSorted()
}

/** Texts that no difference may show. */
const CONFIDENTIAL = (
  'bank body customer description external_reference metadata notes payment_destination ' +
  'return_url sealed_secret url'
).split(' ')

/** A difference for each attribute in which the stored row is not as it is derived. */
export function rowDifferences(
  kind: string,
  id: string,
  derived: object,
  stored: object | undefined,
): readonly Difference[] {
  if (stored === undefined) return compare(kind, id, 'present', 'missing')
  const [expected, found] = [flattened(derived), flattened(stored)]
  return differing(expected, found).flatMap((name) => {
    if (!(name in expected || isKnownName(name))) return [unknownName(kind, name)]
    const isNumber = [expected[name], found[name]].some((value) => typeof value === 'number')
    const absent = isNumber ? 0 : undefined
    const [one, other] = [toValue(expected[name] ?? absent), toValue(found[name] ?? absent)]
    const isShown = one !== other && !CONFIDENTIAL.includes(name)
    const shown = isShown ? ([one, other] as const) : (['as derived', 'different'] as const)
    return compare(`${kind}.${name}`, id, ...shown)
  })
}

/** The attributes of all rows of this release. A later release may have written others. */
const NAMES = new Set(
  `action adjustment_reference after amount_minor at attempt attempts available_minor bank
  bank_minor bank_reference before body cancel_requested_at cause changed_at channel_code
  claim_token claimed_at claimed_until client_id closed_until count count_cancelled
  count_expired count_failed count_pending count_succeeded created_at credited_at
  credited_minor credited_provider_payment_id currency customer day deleted_at description
  digest due_at duration_ms eligible_at enabled ended_at ended_by endpoint_count endpoint_id
  endpoint_ids entity entry_count entry_id erased_at error event_id event_name event_types
  expires_at expiry_started_at external_reference failure failure_reason fee_minor fee_status
  figures_at final_fee fired_at gross_minor had_bank history_day house_minor http_status id
  in_settlement_minor is_void key_digest key_id kind last_alert_at last_settlement_id
  late_row_at lease_until listed_at long_settlements lost_before markup_minor
  may_exist_upstream metadata method money_version movements name net_minor next_attempt_at
  notes notional_minor number open_at operator owes_since owes_told_at owner paid_at
  paid_out_minor payment_count payment_destination payment_id payment_request_id payout_hold
  permissions position posted_at posted_minor prefix previous previous_id progress
  progress_number proven_eligible_at proven_minor provider provider_attempts
  provider_fee_minor provider_minor provider_payment_id provider_settled_at
  provider_transaction_id rate_limit_per_second recredited_at recredited_minor
  recredited_settlement_id reference refunded_minor remembered_provider_payment_ids request
  request_id resends resolution response_body restored_at return_url reversal reversals_at
  revoked_at round round_start rounds rounds_on row_at sealed_secret settled_at settled_until
  settlement_floor_minor settlement_id slot slow_since standing state status subject success
  suspense_id suspense_minor swept_from swept_until taken_back_minor totals transaction_id
  transaction_minor triggered_by ttl type unproven_minor url version voided_open work
  written_off_minor`.split(/\s+/),
)

export function isKnownName(name: string): boolean {
  return NAMES.has(name)
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

/** The details of a payment are shown by their members. */
function flattened(stored: object): Item {
  const { details, ...others } = comparable(stored)
  return typeof details === 'object'
    ? { ...others, ...toItem(details ?? {}) }
    : { ...others, details }
}

/** A row with the names of attributes, without its key and without what counts as absent. */
export function comparable(fields: object): Item {
  const { pk: _pk, sk: _sk, details, body, ...others } = toItem(fields)
  return present({
    ...others,
    ...(details !== undefined && { details: detailsOf(details) }),
    ...(body !== undefined && { body: inflateText(body) ?? body }),
  })
}

function present(record: object): Item {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      const kept = presentValue(value)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

function presentValue(value: unknown): unknown {
  if (value === 0) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(presentValue)
  const isRecord = typeof value === 'object' && value !== null && !(value instanceof Set)
  if (!isRecord || value instanceof Uint8Array) return value
  const kept = present(value)
  return Object.keys(kept).length === 0 ? undefined : kept
}

/** The order of members counts only in the merchant's own JSON, which is a text. */
function detailsOf(details: unknown): unknown {
  const text = inflateText(details)
  try {
    return text === undefined ? details : JSON.parse(text)
  } catch {
    return details
  }
}
