import {
  type ClientId,
  type DeliveryId,
  derivedUuid,
  type EndpointIds,
  type EventSubject,
  type PaymentId,
  type SettlementId,
} from '../ids.ts'
import type { Item } from './attributes.ts'
import { GATEWAY_OWNER } from './schema.ts'
import { UPSTREAM } from './upstream.ts'

/** The entity chart: every item's primary key is built here and nowhere else. */
export type Key = { readonly pk: string; readonly sk: string }

/** Kinds of partitions: the prefixes of their keys. The manifest grants access by these names. */
export const PARTITIONS = [
  'ADJUSTMENT',
  'APIKEY',
  'APPROVAL',
  'AUDIT',
  'BATCH',
  'CLIENT',
  'DELIVERY',
  'DESTINATION',
  'ENDPOINTS',
  'EVENT',
  'HOUSE',
  'JOURNAL',
  'LEDGER',
  'NOTED',
  'PAYMENT',
  'PAYOUTREF',
  'PUSHES',
  'QUOTA',
  'RATE',
  'REFERENCE',
  'SETTLEMENT',
  'SUSPENSE',
  'SYNC',
  'TEST',
  'VERDICT',
] as const
export type Partition = (typeof PARTITIONS)[number]

/** The `#` ends the kind, so that no prefix is the beginning of another. */
export function pkPrefix(partition: Partition) {
  return `${partition}#` as const
}

export function idOf(pk: string) {
  return pk.slice(pk.indexOf('#') + 1)
}

export function clientKey(clientId: ClientId) {
  return itemKey('CLIENT', clientId)
}

function itemKey(partition: Partition, ...id: readonly (string | number)[]) {
  return keyOf(pkOf(partition, ...id), partition)
}

function keyOf(pk: string, sk: string) {
  return { pk, sk }
}

/** `#` also separates the members of an id. */
function pkOf(partition: Partition, ...id: readonly (string | number)[]) {
  return pkPrefix(partition) + id.join('#')
}

/** Hashed, so that the table never contains a usable API key. */
export function apiKeyKey(keyHash: string) {
  return itemKey('APIKEY', keyHash)
}

/** `approvalId`: of an action and its subject (operator/approval-store.ts). */
export function approvalKey(approvalId: string) {
  return itemKey('APPROVAL', approvalId)
}

export function endpointsPk(clientId: ClientId) {
  return pkOf('ENDPOINTS', clientId)
}
export const ENDPOINT_SK_PREFIX = 'ENDPOINT#'

export function endpointKey({ clientId, endpointId }: EndpointIds) {
  return keyOf(endpointsPk(clientId), `${ENDPOINT_SK_PREFIX}${endpointId}`)
}

export function deletedEndpointKey({ clientId, endpointId }: EndpointIds) {
  return keyOf(endpointsPk(clientId), `GONE#${endpointId}`)
}

export function paymentKey(paymentId: PaymentId) {
  return itemKey('PAYMENT', paymentId)
}

/** Hashed, so that no key contains an account number. */
export function destinationPk(destination: string) {
  return pkOf('DESTINATION', derivedUuid('destination', destination))
}

export function destinationKey(destination: string, createdAt: string, paymentId: PaymentId) {
  return keyOf(destinationPk(destination), `${createdAt}#${paymentId}`)
}

/** Hashed, because a reference may be longer than a key. */
export function referencePk(clientId: ClientId, reference: string) {
  return pkOf('REFERENCE', derivedUuid('reference', clientId, reference))
}

/** Its pointers are in the order of their payments' creation. */
export function referenceKey(
  clientId: ClientId,
  reference: string,
  createdAt: string,
  paymentId: PaymentId,
) {
  return keyOf(referencePk(clientId, reference), `${createdAt}#${paymentId}`)
}

/** The partition of a subject's events, apart from the subject itself, whose row holds money. */
export function eventsPk({ kind, id }: EventSubject) {
  return pkOf('EVENT', kind, id)
}

export function eventKey(subject: EventSubject, name: string) {
  return keyOf(eventsPk(subject), name)
}

export function deliveryKey(deliveryId: DeliveryId) {
  return itemKey('DELIVERY', deliveryId)
}

/** A test delivery carries its own bytes, so no function behind the API may write its row. */
export function testDeliveryKey(deliveryId: DeliveryId) {
  return keyOf(pkOf('TEST', deliveryId), 'DELIVERY')
}

export function isTestKey({ pk }: Item) {
  return typeof pk === 'string' && pk.startsWith(pkPrefix('TEST'))
}
export const ATTEMPT_SK_PREFIX = 'ATTEMPT#'

export function attemptKey(deliveryId: DeliveryId, attempt: number) {
  return keyOf(pkOf('DELIVERY', deliveryId), attemptSk(attempt))
}

function attemptSk(attempt: number) {
  return `${ATTEMPT_SK_PREFIX}${String(attempt).padStart(8, '0')}`
}

export function testAttemptKey(deliveryId: DeliveryId, attempt: number) {
  return keyOf(pkOf('TEST', deliveryId), attemptSk(attempt))
}

export function ledgerPk(clientId: ClientId) {
  return pkOf('LEDGER', clientId)
}

export function shardKey(clientId: ClientId, shard: number) {
  return keyOf(ledgerPk(clientId), `SHARD#${String(shard).padStart(2, '0')}`)
}

export function shardNumberOf(sk: string) {
  return /^SHARD#(0\d|1[0-5])$/.test(sk) ? Number(sk.slice(-2)) : undefined
}
export const WINDOW_SK = 'WINDOW'

export function windowKey(clientId: ClientId) {
  return keyOf(ledgerPk(clientId), WINDOW_SK)
}

export function journalPk(clientId: ClientId) {
  return pkOf('JOURNAL', clientId)
}

export function entryKey(
  clientId: ClientId,
  { eligibleAt, entryId }: { readonly eligibleAt: string; readonly entryId: string },
) {
  return keyOf(journalPk(clientId), `${eligibleAt}#${entryId}`)
}

/** Entries of the house, by the day of the provider's row. Each row has one entry of each type. */
export function houseDayPk(rowDay: string) {
  return pkOf('JOURNAL', 'house', rowDay)
}

export function houseEntryKey(rowDay: string, transactionId: string, type: string) {
  return keyOf(houseDayPk(rowDay), `${transactionId}#${type}`)
}
/** Outside the journal: sums grow, and no role may update the journal. */
export const HOUSE_TOTALS_PK = `${pkPrefix('HOUSE')}totals`

export function houseTotalKey(day: string, type: string) {
  return keyOf(HOUSE_TOTALS_PK, `${day}#${type}`)
}

export function adjustmentsPk(clientId: ClientId) {
  return pkOf('ADJUSTMENT', clientId)
}

export function adjustmentKey(clientId: ClientId, reference: string) {
  return keyOf(adjustmentsPk(clientId), reference)
}

export function houseAdjustmentKey(reference: string) {
  return keyOf(HOUSE_ADJUSTMENTS_PK, reference)
}
export const HOUSE_ADJUSTMENTS_PK = `${pkPrefix('ADJUSTMENT')}house`

export function settlementKey(settlementId: SettlementId) {
  return itemKey('SETTLEMENT', settlementId)
}

/** The audit result of a client or of the gateway, in a partition without money. */
export function verdictKey(subject: string) {
  return itemKey('VERDICT', subject)
}

export function bankReferenceKey(reference: string) {
  return itemKey('PAYOUTREF', reference)
}

export function batchKey(number: number) {
  return itemKey('BATCH', number)
}

/** The id is a provider payment id, and a cause if one payment can have several findings. */
export function suspenseKey(suspenseId: string) {
  return itemKey('SUSPENSE', suspenseId)
}

export function notedPk(clientId: string | undefined) {
  return pkOf('NOTED', clientId ?? GATEWAY_OWNER)
}

export function notedKey(item: { clientId?: string | undefined; suspenseId: string }) {
  return keyOf(notedPk(item.clientId), item.suspenseId)
}

/** A stage may limit creates separately. */
export function rateKey(clientId: ClientId, counted: 'requests' | 'creates') {
  return itemKey('RATE', clientId, ...(counted === 'creates' ? ['create'] : []))
}

/** Hashed, so that no key contains a phone number. */
export function pushesKey(clientId: ClientId, phone: string) {
  return itemKey('PUSHES', derivedUuid('phone', clientId, phone))
}

/** In RATE: functions that authenticate may not write API keys. */
export function keyUseKey(clientId: ClientId, keyId: string) {
  return itemKey('RATE', clientId, 'key', keyId)
}

export function quotaKey(window: number) {
  return itemKey('QUOTA', UPSTREAM, window)
}

/** A client's share of the operations' quota, in one minute of scarce quota. */
export function quotaShareKey(clientId: ClientId, minute: number) {
  return itemKey('QUOTA', UPSTREAM, clientId, minute)
}
export const pausesKey: Key = { pk: `${pkPrefix('QUOTA')}${UPSTREAM}#pauses`, sk: 'QUOTA' }

export function syncJobKey(id: string) {
  return itemKey('SYNC', id)
}

export function auditRecordPk(subject: string) {
  return pkOf('AUDIT', subject)
}

export function auditRecordKey(subject: string, at: string, id: string) {
  return keyOf(auditRecordPk(subject), `${at}#${id}`)
}

/** The head has its own partition, so that the records' partition contains only records. */
export function auditHeadKey(subject: string) {
  return keyOf(pkOf('AUDIT', subject, 'HEAD'), 'HEAD')
}

/** Without rows of another kind: only an altered attribute lists such a row. */
export function rowKeysOf(partition: Partition, rows: readonly Item[]) {
  const prefix = pkPrefix(partition)
  return rows.flatMap(({ pk, sk }) =>
    typeof pk === 'string' && typeof sk === 'string' && pk.startsWith(prefix) ? { pk, sk } : [],
  )
}
