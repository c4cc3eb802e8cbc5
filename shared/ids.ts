import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { ifValid } from './if-valid.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * The gateway's own ids: lower-case UUIDs. Any other form is answered 404 without a read (design
 * section 5).
 */
export const UuidSchema = v.pipe(v.string(), v.regex(UUID, 'must be a lower-case UUID'))

export const PaymentIdSchema = v.pipe(UuidSchema, v.brand('PaymentId'))
export type PaymentId = v.InferOutput<typeof PaymentIdSchema>

export const ClientIdSchema = v.pipe(UuidSchema, v.brand('ClientId'))
export type ClientId = v.InferOutput<typeof ClientIdSchema>

export const EndpointIdSchema = v.pipe(UuidSchema, v.brand('EndpointId'))
export type EndpointId = v.InferOutput<typeof EndpointIdSchema>
export type EndpointIds = { readonly clientId: ClientId; readonly endpointId: EndpointId }

export const EventIdSchema = v.pipe(UuidSchema, v.brand('EventId'))
export type EventId = v.InferOutput<typeof EventIdSchema>

export const DeliveryIdSchema = v.pipe(UuidSchema, v.brand('DeliveryId'))
export type DeliveryId = v.InferOutput<typeof DeliveryIdSchema>

export const SettlementIdSchema = v.pipe(UuidSchema, v.brand('SettlementId'))
export type SettlementId = v.InferOutput<typeof SettlementIdSchema>

/** What an event is about. Its row's partition has this name. */
export const EventSubjectSchema = v.variant('kind', [
  v.object({ kind: v.literal('payment'), id: PaymentIdSchema }),
  v.object({ kind: v.literal('settlement'), id: SettlementIdSchema }),
])
export type EventSubject = v.InferOutput<typeof EventSubjectSchema>

export function subjectOfPayment(id: PaymentId): EventSubject {
  return { kind: 'payment', id }
}

export function subjectOfSettlement(id: SettlementId): EventSubject {
  return { kind: 'settlement', id }
}

/** Undefined for another subject, and without one. */
export function paymentOfSubject(subject: EventSubject | undefined): PaymentId | undefined {
  return subject?.kind === 'payment' ? subject.id : undefined
}

/** Undefined for another subject, and without one. */
export function settlementOfSubject(subject: EventSubject | undefined): SettlementId | undefined {
  return subject?.kind === 'settlement' ? subject.id : undefined
}

export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Version 8. The length of each part is hashed too, so that ("ab","c") and ("a","bc") differ. */
export function derivedUuid(...parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part)
  return uuidOf(hash.digest().subarray(0, 16), 8)
}

function uuidOf(bytes: Buffer, version: number) {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4)
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The payment id of a client and an idempotency key (design section 4, Create, step 2). */
export function paymentIdForKey(clientId: ClientId, idempotencyKey: string): PaymentId {
  return paymentIdFor(clientId, keyDigestOf(idempotencyKey))
}

/** The id proves whose the payment is: no other client has it with any digest. */
export function paymentIdFor(clientId: ClientId, keyDigest: string): PaymentId {
  return v.parse(PaymentIdSchema, derivedUuid('payment', clientId, keyDigest))
}

const DIGEST_BYTES = 16

/** 22 characters. The key itself is not stored. */
export function keyDigestOf(idempotencyKey: string): string {
  return digestText(createHash('sha256').update(idempotencyKey).digest())
}

/** A payment without an idempotency key has a digest that no other payment has. */
export function newKeyDigest(deps: { readonly randomBytes: (length: number) => Buffer }): string {
  return digestText(deps.randomBytes(DIGEST_BYTES))
}

function digestText(bytes: Buffer) {
  return bytes.subarray(0, DIGEST_BYTES).toString('base64url')
}

/** `name`: the type, and a suffix if several events have this type. */
export function eventIdFor({ kind, id }: EventSubject, name: string): EventId {
  return v.parse(EventIdSchema, derivedUuid('event', kind, id, name))
}

/** An event has one delivery to each endpoint. */
export function deliveryIdFor(eventId: EventId, endpointId: EndpointId): DeliveryId {
  return v.parse(DeliveryIdSchema, derivedUuid('delivery', eventId, endpointId))
}

/** A UUID (version 7): ids sort by their time in milliseconds. `entropy`: ten random bytes. */
export function timeOrderedUuid(epochMs: number, entropy: Buffer): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(epochMs, 0, 6)
  entropy.copy(bytes, 6, 0, 10)
  return uuidOf(bytes, 7)
}

export function timeOfUuid(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}

/** A number from 0 to `slots` - 1: stable and evenly spread. */
export function slotOf(id: string, slots: number): number {
  return createHash('sha256').update(id).digest().readUInt32BE(0) % slots
}

/** The reference of an attempt in all provider objects: `<payment id>-<attempt>`. */
export function referenceOf(paymentId: PaymentId, attempt: number): string {
  return `${paymentId}-${attempt}`
}

/** Undefined for a foreign reference. */
export function paymentIdOf(reference = ''): PaymentId | undefined {
  return ifValid(PaymentIdSchema, /^([0-9a-f-]{36})-\d{1,9}$/.exec(reference)?.[1])
}
