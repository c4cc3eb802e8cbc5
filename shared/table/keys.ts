import { assertInvariant } from '../errors.ts'
import {
  type ClientId,
  type DeliveryId,
  derivedUuid,
  type EndpointId,
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

/** What a partition's key names after its kind: the id of a payment, a settlement or an item, or a subject. */
export const idOf = (pk: string): string => pk.slice(pk.indexOf('#') + 1)

export const clientKey = (clientId: ClientId): Key => ({ pk: `${pkPrefix('CLIENT')}${clientId}`, sk: 'CLIENT' })

/** By hash, so that the table never contains a usable API key. */
export const apiKeyKey = (keyHash: string): Key => ({ pk: `${pkPrefix('APIKEY')}${keyHash}`, sk: 'APIKEY' })

export const endpointsPk = (clientId: ClientId) => `${pkPrefix('ENDPOINTS')}${clientId}`
export const ENDPOINT_SK_PREFIX = 'ENDPOINT#'
export const endpointKey = (clientId: ClientId, endpointId: EndpointId): Key => ({
  pk: endpointsPk(clientId),
  sk: `${ENDPOINT_SK_PREFIX}${endpointId}`,
})
export const goneEndpointKey = (clientId: ClientId, endpointId: EndpointId): Key => ({
  pk: endpointsPk(clientId),
  sk: `GONE#${endpointId}`,
})

export const paymentKey = (paymentId: PaymentId): Key => ({ pk: `${pkPrefix('PAYMENT')}${paymentId}`, sk: 'PAYMENT' })

/** By hash, because a wallet's link may exceed a key's length and opens a checkout. */
export const destinationPk = (destination: string) =>
  `${pkPrefix('DESTINATION')}${derivedUuid('destination', destination)}`
export const destinationKey = (destination: string, createdAt: string, paymentId: PaymentId): Key => ({
  pk: destinationPk(destination),
  sk: `${createdAt}#${paymentId}`,
})

/**
 * By hash of reference and owner: a reference belongs to its merchant and may exceed a key's length. Divided into the
 * client's parts, because a merchant may use one reference for all payments.
 */
export const referencePk = (owner: string, reference: string) =>
  `${pkPrefix('REFERENCE')}${derivedUuid('reference', owner, reference)}`
export const referenceKey = (owner: string, reference: string, paymentId: PaymentId): Key => ({
  pk: referencePk(owner, reference),
  sk: paymentId,
})

export const EVENT_SK_PREFIX = 'EVENT#'
export const eventKey = (paymentId: PaymentId, type: string): Key => ({
  pk: `${pkPrefix('PAYMENT')}${paymentId}`,
  sk: `${EVENT_SK_PREFIX}${type}`,
})

const deliveryPk = (deliveryId: DeliveryId) => `${pkPrefix('DELIVERY')}${deliveryId}`
export const deliveryKey = (deliveryId: DeliveryId): Key => ({ pk: deliveryPk(deliveryId), sk: 'DELIVERY' })
export const attemptSkPrefix = 'ATTEMPT#'
export const attemptKey = (deliveryId: DeliveryId, attempt: number): Key => ({
  pk: deliveryPk(deliveryId),
  sk: `${attemptSkPrefix}${String(attempt).padStart(8, '0')}`,
})

/** The first part has the client's own id; items that are not divided belong to it too. */
const inPart = (clientId: ClientId, part: number): string => (part === 0 ? clientId : `${clientId}#${part}`)

/** The index owner of a client's payments and events in one part. */
export const ownerOf = (clientId: ClientId, part = 0) => inPart(clientId, part)
/** The owners of all parts. */
export const ownersOf = (clientId: ClientId, parts: number): readonly string[] =>
  Array.from({ length: parts }, (_, part) => ownerOf(clientId, part))
export const clientOfOwner = (owner: string): string => owner.split('#', 1)[0] ?? owner

export const ledgerPk = (clientId: ClientId, part = 0) => `${pkPrefix('LEDGER')}${inPart(clientId, part)}`
const shardSkPrefix = 'SHARD#'
export const shardKey = (clientId: ClientId, shard: number, part = 0): Key => ({
  pk: ledgerPk(clientId, part),
  sk: `${shardSkPrefix}${String(shard).padStart(2, '0')}`,
})
export const shardNumberOf = (sk: string): number => Number(sk.slice(shardSkPrefix.length))
export const WINDOW_SK = 'WINDOW'
export const windowKey = (clientId: ClientId): Key => ({ pk: ledgerPk(clientId), sk: WINDOW_SK })

export const journalPk = (clientId: ClientId, part = 0) => `${pkPrefix('JOURNAL')}${inPart(clientId, part)}`
/** Sorted by the time from which entries can be settled. */
export const entryKey = (
  { clientId, part }: { readonly clientId: ClientId; readonly part?: number | undefined },
  { eligibleAt, entryId }: { readonly eligibleAt: string; readonly entryId: string },
): Key => ({ pk: journalPk(clientId, part), sk: `${eligibleAt}#${entryId}` })
/** Entries of the house, by the day of the provider's row: one for each row and type. */
export const houseDayPk = (rowDay: string) => `${pkPrefix('JOURNAL')}house#${rowDay}`
export const houseEntryKey = (rowDay: string, transactionId: string, type: string): Key => ({
  pk: houseDayPk(rowDay),
  sk: `${transactionId}#${type}`,
})
/** Sums of house entries by posting day. They grow, so they are outside the journal, which no role may update. */
export const HOUSE_TOTALS_PK = `${pkPrefix('HOUSE')}totals`
export const houseTotalKey = (day: string, type: string): Key => ({ pk: HOUSE_TOTALS_PK, sk: `${day}#${type}` })
/** The parts of a client's journal. */
export const journalPks = (clientId: ClientId, parts: number): readonly string[] =>
  Array.from({ length: parts }, (_, part) => journalPk(clientId, part))

/** By the operator's own reference, unique for each client. */
export const adjustmentsPk = (clientId: ClientId) => `${pkPrefix('ADJUSTMENT')}${clientId}`
export const adjustmentKey = (clientId: ClientId, reference: string): Key => ({
  pk: adjustmentsPk(clientId),
  sk: reference,
})

export const settlementKey = (settlementId: SettlementId): Key => ({
  pk: `${pkPrefix('SETTLEMENT')}${settlementId}`,
  sk: 'SETTLEMENT',
})

/** The audit result of a client or a settlement, in a partition without money. */
export const verdictKey = (subject: string): Key => ({ pk: `${pkPrefix('VERDICT')}${subject}`, sk: 'VERDICT' })

/** The settlement that a bank reference paid out. It makes the reference unique. */
export const bankReferenceKey = (reference: string): Key => ({
  pk: `${pkPrefix('REFERENCE')}${derivedUuid('bank', reference)}`,
  sk: 'PAYOUT',
})

/** A suspense id is a provider payment id, followed by a cause if one id can have several findings. */
export const suspenseKey = (suspenseId: string): Key => ({ pk: `${pkPrefix('SUSPENSE')}${suspenseId}`, sk: 'SUSPENSE' })

/** The rate limit of all requests of a client, or of its creates if the stage limits these. */
export const rateKey = (clientId: ClientId, of: 'requests' | 'creates'): Key => ({
  pk: `${pkPrefix('RATE')}${clientId}${of === 'creates' ? '#create' : ''}`,
  sk: 'RATE',
})

/** The last use of an API key. It is in RATE, because authenticating functions may not write API keys. */
export const keyUseKey = (clientId: ClientId, keyId: string): Key => ({
  pk: `${pkPrefix('RATE')}${clientId}#key#${keyId}`,
  sk: 'RATE',
})

/** The calls of one provider operation taken in one time window. */
export const quotaKey = (operation: string, window: number): Key => ({
  pk: `${pkPrefix('QUOTA')}${UPSTREAM}#${operation}#${window}`,
  sk: 'QUOTA',
})
/** A client's share of an operation's quota, in a minute in which it is scarce. */
export const quotaShareKey = (operation: string, clientId: ClientId, minute: number): Key => ({
  pk: `${pkPrefix('QUOTA')}${UPSTREAM}#${operation}#${clientId}#${minute}`,
  sk: 'QUOTA',
})
/** The end of each provider operation's pause. */
export const pausesKey: Key = { pk: `${pkPrefix('QUOTA')}${UPSTREAM}#pauses`, sk: 'QUOTA' }

/** A job of the sync: the head, a slice, or an open transaction. */
export const syncJobKey = (id: string): Key => ({ pk: `${pkPrefix('SYNC')}${id}`, sk: 'SYNC' })

export const auditRecordPk = (subject: string) => `${pkPrefix('AUDIT')}${subject}`
export const auditRecordKey = (subject: string, at: string, id: string): Key => ({
  pk: auditRecordPk(subject),
  sk: `${at}#${id}`,
})

/** In its own partition, so that the records' partition contains only records. */
export const auditHeadKey = (subject: string): Key => ({ pk: `${auditRecordPk(subject)}#HEAD`, sk: 'HEAD' })

/** Distinguishes the two kinds of `alert` due work: suspense items and abandoned deliveries. */
export const isSuspenseKey = ({ sk }: Key): boolean => sk === 'SUSPENSE'

/**
 * The primary key of an index row of the expected kind. Throws on any other kind: the caller has no access to it and
 * would misread its item.
 */
export const foundKey = (partition: Partition, { pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): Key => {
  assertInvariant(
    typeof pk === 'string' && typeof sk === 'string' && pk.startsWith(pkPrefix(partition)),
    `the index answered a key that is not of ${partition}`,
  )
  return { pk, sk }
}
