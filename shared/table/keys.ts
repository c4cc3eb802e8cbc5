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

/** Kinds of partitions: what their keys begin with. The manifest says in these words what a function may touch. */
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

/** The kind ends at its sign, so that no kind's keys begin with those of another. */
export const pkPrefix = (partition: Partition) => `${partition}#` as const

export const clientKey = (clientId: ClientId): Key => ({ pk: `${pkPrefix('CLIENT')}${clientId}`, sk: 'CLIENT' })

/** Under the hash, so that the table never holds a usable key. */
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

/** Under a hash: a wallet's link can be longer than a key may be, and opens a checkout. */
export const destinationPk = (destination: string) =>
  `${pkPrefix('DESTINATION')}${derivedUuid('destination', destination)}`
export const destinationKey = (destination: string, createdAt: string, paymentId: PaymentId): Key => ({
  pk: destinationPk(destination),
  sk: `${createdAt}#${paymentId}`,
})

/**
 * Under a hash, of the owner too: a reference is its merchant's, and may be longer than a key. In the parts of the client,
 * since a merchant may give one reference to everything.
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

/** The first part of what a client owns has the client's own name; all that is not divided lies there too. */
const inPart = (clientId: ClientId, part: number): string => (part === 0 ? clientId : `${clientId}#${part}`)

/** Owner of a client's payments and their events in a part, by which the indexes find them. */
export const ownerOf = (clientId: ClientId, part = 0) => inPart(clientId, part)
/** Of every part of so many. */
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
/** In the order in which entries may be settled. */
export const entryKey = (
  { clientId, part }: { readonly clientId: ClientId; readonly part?: number | undefined },
  { eligibleAt, entryId }: { readonly eligibleAt: string; readonly entryId: string },
): Key => ({ pk: journalPk(clientId, part), sk: `${eligibleAt}#${entryId}` })
/** Entries of nobody's money, by the day on which the provider made their row: once for each row and type. */
export const houseDayPk = (rowDay: string) => `${pkPrefix('JOURNAL')}house#${rowDay}`
export const houseEntryKey = (rowDay: string, transactionId: string, type: string): Key => ({
  pk: houseDayPk(rowDay),
  sk: `${transactionId}#${type}`,
})
/** Their sums by day of posting, which grow: no role may update a journal. */
export const HOUSE_TOTALS_PK = `${pkPrefix('HOUSE')}totals`
export const houseTotalKey = (day: string, type: string): Key => ({ pk: HOUSE_TOTALS_PK, sk: `${day}#${type}` })
/** The parts of a client's journal. */
export const journalPks = (clientId: ClientId, parts: number): readonly string[] =>
  Array.from({ length: parts }, (_, part) => journalPk(clientId, part))

/** By the operator's own reference: once for each client. */
export const adjustmentsPk = (clientId: ClientId) => `${pkPrefix('ADJUSTMENT')}${clientId}`
export const adjustmentKey = (clientId: ClientId, reference: string): Key => ({
  pk: adjustmentsPk(clientId),
  sk: reference,
})

export const settlementKey = (settlementId: SettlementId): Key => ({
  pk: `${pkPrefix('SETTLEMENT')}${settlementId}`,
  sk: 'SETTLEMENT',
})

/** What audits found of a client or of a settlement: beside no money. */
export const verdictKey = (subject: string): Key => ({ pk: `${pkPrefix('VERDICT')}${subject}`, sk: 'VERDICT' })

/** The settlement that a bank reference paid out: no second one has it. */
export const bankReferenceKey = (reference: string): Key => ({
  pk: `${pkPrefix('REFERENCE')}${derivedUuid('bank', reference)}`,
  sk: 'PAYOUT',
})

/** A suspense id is a provider payment id, with a cause behind it when one payment id can have several findings. */
export const suspenseKey = (suspenseId: string): Key => ({ pk: `${pkPrefix('SUSPENSE')}${suspenseId}`, sk: 'SUSPENSE' })

/** The id in such a key. */
export const suspenseIdOf = (pk: string): string => pk.slice(pkPrefix('SUSPENSE').length)

/** Of all that a client asks, or of its creates where the stage has a limit of these. */
export const rateKey = (clientId: ClientId, of: 'requests' | 'creates'): Key => ({
  pk: `${pkPrefix('RATE')}${clientId}${of === 'creates' ? '#create' : ''}`,
  sk: 'RATE',
})

/** When a key was used last: among what every function that authenticates may write, which keys are not. */
export const keyUseKey = (clientId: ClientId, keyId: string): Key => ({
  pk: `${pkPrefix('RATE')}${clientId}#key#${keyId}`,
  sk: 'RATE',
})

/** Calls of one of the provider's operations taken in one window of time. */
export const quotaKey = (operation: string, window: number): Key => ({
  pk: `${pkPrefix('QUOTA')}${UPSTREAM}#${operation}#${window}`,
  sk: 'QUOTA',
})
/** A client's own part of an operation's quota, in a minute in which it is scarce. */
export const quotaShareKey = (operation: string, clientId: ClientId, minute: number): Key => ({
  pk: `${pkPrefix('QUOTA')}${UPSTREAM}#${operation}#${clientId}#${minute}`,
  sk: 'QUOTA',
})
/** Until when each of the provider's operations is paused. */
export const pausesKey: Key = { pk: `${pkPrefix('QUOTA')}${UPSTREAM}#pauses`, sk: 'QUOTA' }

/** A job of the sync: its head, a slice to be read, a transaction to be asked about again. */
export const syncJobKey = (id: string): Key => ({ pk: `${pkPrefix('SYNC')}${id}`, sk: 'SYNC' })

export const auditRecordPk = (subject: string) => `${pkPrefix('AUDIT')}${subject}`
export const auditRecordKey = (subject: string, at: string, id: string): Key => ({
  pk: auditRecordPk(subject),
  sk: `${at}#${id}`,
})

/** In a partition of its own, so that the records' partition holds records alone. */
export const auditHeadKey = (subject: string): Key => ({ pk: `${auditRecordPk(subject)}#HEAD`, sk: 'HEAD' })

/** Items of two kinds wait in the `alert` due work: these, and abandoned deliveries. */
export const isSuspenseKey = ({ sk }: Key): boolean => sk === 'SUSPENSE'

/**
 * The primary key that an index brought, of the one kind that is looked for there. Throws on any other: the caller is
 * granted no more, and what stands under it would not be what it takes it for.
 */
export const foundKey = (partition: Partition, { pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): Key => {
  assertInvariant(
    typeof pk === 'string' && typeof sk === 'string' && pk.startsWith(pkPrefix(partition)),
    `an index brought a key that is not of ${partition}`,
  )
  return { pk, sk }
}
