import { assertInvariant } from '../errors.ts'
import {
  type ClientId,
  type DeliveryId,
  derivedUuid,
  type EndpointIds,
  type PaymentId,
  type SettlementId,
} from '../ids.ts'
import { UPSTREAM } from './upstream.ts'

/** The entity chart: every item's primary key is built here and nowhere else. */
export type Key = { readonly pk: string; readonly sk: string }

/** Kinds of partitions: the prefixes of their keys. The manifest grants access by these names. */
export const PARTITIONS = [
  'ADJUSTMENT',
  'APIKEY',
  'AUDIT',
  'CLIENT',
  'DELIVERY',
  'DESTINATION',
  'ENDPOINTS',
  'HOUSE',
  'JOURNAL',
  'LEDGER',
  'PAYMENT',
  'QUOTA',
  'RATE',
  'REFERENCE',
  'SETTLEMENT',
  'SUSPENSE',
  'SYNC',
  'VERDICT',
] as const
export type Partition = (typeof PARTITIONS)[number]

/** The `#` ends the kind, so that no prefix is the beginning of another. */
export const pkPrefix = (partition: Partition) => `${partition}#` as const

/** The id or subject in a partition key: its text after the kind. */
export const idOf = (pk: string): string => pk.slice(pk.indexOf('#') + 1)

const keyOf = (pk: string, sk: string): Key => ({ pk, sk })

/** The partition key of a kind: `#` also separates the parts of its id. */
const pkOf = (partition: Partition, ...id: readonly (string | number)[]): string => pkPrefix(partition) + id.join('#')
const itemKey = (partition: Partition, ...id: readonly (string | number)[]) => keyOf(pkOf(partition, ...id), partition)

export const clientKey = (clientId: ClientId) => itemKey('CLIENT', clientId)

/** Hashed, so that the table never contains a usable API key. */
export const apiKeyKey = (keyHash: string) => itemKey('APIKEY', keyHash)

export const endpointsPk = (clientId: ClientId) => pkOf('ENDPOINTS', clientId)
export const ENDPOINT_SK_PREFIX = 'ENDPOINT#'
export const endpointKey = ({ clientId, endpointId }: EndpointIds) =>
  keyOf(endpointsPk(clientId), `${ENDPOINT_SK_PREFIX}${endpointId}`)
export const deletedEndpointKey = ({ clientId, endpointId }: EndpointIds) =>
  keyOf(endpointsPk(clientId), `GONE#${endpointId}`)

export const paymentKey = (paymentId: PaymentId) => itemKey('PAYMENT', paymentId)

/** Hashed, so that no key contains an account number. Payments without one have no destination key. */
export const destinationPk = (destination: string) => pkOf('DESTINATION', derivedUuid('destination', destination))
export const destinationKey = (destination: string, createdAt: string, paymentId: PaymentId) =>
  keyOf(destinationPk(destination), `${createdAt}#${paymentId}`)

/** Hashed, because a reference may be longer than a key. `owner` includes the client's part. */
export const referencePk = (owner: string, reference: string) =>
  pkOf('REFERENCE', derivedUuid('reference', owner, reference))
export const referenceKey = (owner: string, reference: string, paymentId: PaymentId) =>
  keyOf(referencePk(owner, reference), paymentId)

export const EVENT_SK_PREFIX = 'EVENT#'
export const eventKey = (paymentId: PaymentId, type: string) =>
  keyOf(pkOf('PAYMENT', paymentId), `${EVENT_SK_PREFIX}${type}`)

export const deliveryKey = (deliveryId: DeliveryId) => itemKey('DELIVERY', deliveryId)
export const ATTEMPT_SK_PREFIX = 'ATTEMPT#'
export const attemptKey = (deliveryId: DeliveryId, attempt: number) =>
  keyOf(pkOf('DELIVERY', deliveryId), `${ATTEMPT_SK_PREFIX}${String(attempt).padStart(8, '0')}`)

/** The index owner of a client's payments and events in one part: for the first part the client's own id. */
export const ownerOf = (clientId: ClientId, part = 0): string => (part === 0 ? clientId : `${clientId}#${part}`)
export const ownersOf = (clientId: ClientId, parts: number): readonly string[] =>
  Array.from({ length: parts }, (_, part) => ownerOf(clientId, part))
export const clientOfOwner = (owner: string): string => owner.split('#', 1)[0] ?? owner

export const ledgerPk = (clientId: ClientId, part = 0) => pkOf('LEDGER', ownerOf(clientId, part))
const SHARD_SK_PREFIX = 'SHARD#'
export const shardKey = (clientId: ClientId, shard: number, part = 0) =>
  keyOf(ledgerPk(clientId, part), `${SHARD_SK_PREFIX}${String(shard).padStart(2, '0')}`)
export const shardNumberOf = (sk: string): number => Number(sk.slice(SHARD_SK_PREFIX.length))
export const WINDOW_SK = 'WINDOW'
export const windowKey = (clientId: ClientId): Key => ({ pk: ledgerPk(clientId), sk: WINDOW_SK })

export const journalPk = (clientId: ClientId, part = 0) => pkOf('JOURNAL', ownerOf(clientId, part))
export const journalPks = (clientId: ClientId, parts: number): readonly string[] =>
  Array.from({ length: parts }, (_, part) => journalPk(clientId, part))
export const entryKey = (
  { clientId, part }: { readonly clientId: ClientId; readonly part?: number | undefined },
  { eligibleAt, entryId }: { readonly eligibleAt: string; readonly entryId: string },
): Key => ({ pk: journalPk(clientId, part), sk: `${eligibleAt}#${entryId}` })

/** Entries of the house, by the day of the provider's row: one for each row and type. */
export const houseDayPk = (rowDay: string) => pkOf('JOURNAL', 'house', rowDay)
export const houseEntryKey = (rowDay: string, transactionId: string, type: string) =>
  keyOf(houseDayPk(rowDay), `${transactionId}#${type}`)
/** Sums of house entries by posting day. They grow, so they are outside the journal, which no role may update. */
export const HOUSE_TOTALS_PK = `${pkPrefix('HOUSE')}totals`
export const houseTotalKey = (day: string, type: string): Key => ({ pk: HOUSE_TOTALS_PK, sk: `${day}#${type}` })

export const adjustmentsPk = (clientId: ClientId) => pkOf('ADJUSTMENT', clientId)
export const adjustmentKey = (clientId: ClientId, reference: string) => keyOf(adjustmentsPk(clientId), reference)

export const settlementKey = (settlementId: SettlementId) => itemKey('SETTLEMENT', settlementId)

/** The audit result of a client or a settlement, in a partition without money. */
export const verdictKey = (subject: string) => itemKey('VERDICT', subject)

/** The settlement that a bank reference paid out. It makes the reference unique. */
export const bankReferenceKey = (reference: string) =>
  keyOf(pkOf('REFERENCE', derivedUuid('bank', reference)), 'PAYOUT')

/** A suspense id is a provider payment id, followed by a cause if one payment can have several findings. */
export const suspenseKey = (suspenseId: string) => itemKey('SUSPENSE', suspenseId)

/** Counts all requests of a client, or only its creates if the stage limits those. */
export const rateKey = (clientId: ClientId, of: 'requests' | 'creates') =>
  itemKey('RATE', clientId, ...(of === 'creates' ? ['create'] : []))
/** The last use of an API key. It is in RATE, because authenticating functions may not write API keys. */
export const keyUseKey = (clientId: ClientId, keyId: string) => itemKey('RATE', clientId, 'key', keyId)

/** The calls of each provider operation that were taken in one time window. */
export const quotaKey = (window: number) => itemKey('QUOTA', UPSTREAM, window)
/** A client's share of the operations' quota, in one minute of scarce quota. */
export const quotaShareKey = (clientId: ClientId, minute: number) => itemKey('QUOTA', UPSTREAM, clientId, minute)
/** The end of each provider operation's pause. */
export const pausesKey: Key = { pk: `${pkPrefix('QUOTA')}${UPSTREAM}#pauses`, sk: 'QUOTA' }

/** A job of the sync: the head, a slice, or an open transaction. */
export const syncJobKey = (id: string) => itemKey('SYNC', id)

export const auditRecordPk = (subject: string) => pkOf('AUDIT', subject)
export const auditRecordKey = (subject: string, at: string, id: string) => keyOf(auditRecordPk(subject), `${at}#${id}`)
/** In its own partition, so that the records' partition contains only records. */
export const auditHeadKey = (subject: string): Key => ({ pk: pkOf('AUDIT', subject, 'HEAD'), sk: 'HEAD' })

/** Distinguishes the two kinds of `alert` due work: suspense items and abandoned deliveries. */
export const isSuspenseKey = ({ sk }: Key): boolean => sk === 'SUSPENSE'

/** The primary key of an index row. Throws for a row of another partition kind. */
export const rowKeyOf = (partition: Partition, { pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): Key => {
  const isOwn = typeof pk === 'string' && typeof sk === 'string' && pk.startsWith(pkPrefix(partition))
  assertInvariant(isOwn, `the index returned a key outside ${partition}`)
  return { pk, sk }
}
