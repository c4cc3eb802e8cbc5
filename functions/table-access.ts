import { allAccess, type TableAccess } from '../shared/table/access.ts'
import type { Partition } from '../shared/table/keys.ts'
import type { IndexName } from '../shared/table/schema.ts'

/** One read of key and client; a client's rate limit is an update. */
export const AUTHENTICATION: TableAccess = { BatchGetItem: ['APIKEY', 'CLIENT'], UpdateItem: ['RATE'] }

/**
 * Access of provider news about a visible payment: its money, suspense and its alert. An event is written in the
 * payment's partition, with its deliveries to the client's endpoints.
 */
export const NEWS_OF_VISIBLE: TableAccess = {
  GetItem: ['PAYMENT'],
  QueryFields: ['ENDPOINTS'],
  PutItem: ['DELIVERY', 'PAYMENT', 'SUSPENSE'],
  UpdateItem: ['PAYMENT', 'SUSPENSE'],
  UpdateFields: ['LEDGER'],
}

/**
 * Access of all provider news: the pointers from destination and reference are written when the payment becomes
 * visible.
 */
export const NEWS: TableAccess = allAccess(NEWS_OF_VISIBLE, { PutItem: ['DESTINATION', 'REFERENCE'] })

/**
 * A change with its audit record, after the last record of the subject's chain. No role may update or delete a record.
 */
export const RECORDED: TableAccess = { GetItem: ['AUDIT'], PutItem: ['AUDIT'] }

/**
 * Posting a payment or moving its money: the payment, its shard and its entries. No role updates or deletes an entry.
 */
export const POSTING: TableAccess = {
  GetItem: ['LEDGER', 'PAYMENT'],
  PutItem: ['JOURNAL'],
  UpdateItem: ['LEDGER', 'PAYMENT', 'SUSPENSE'],
  ConditionCheckItem: ['LEDGER'],
}

/** An operator's entry: its shard or the window, and the house's side of a row that it takes over. */
export const ADJUSTING: TableAccess = allAccess(RECORDED, {
  GetItem: ['ADJUSTMENT', 'CLIENT', 'JOURNAL', 'LEDGER'],
  BatchGetItem: ['JOURNAL'],
  PutItem: ['ADJUSTMENT', 'JOURNAL'],
  UpdateItem: ['HOUSE', 'LEDGER'],
})

/** A client's entries; its window says how many parts they have. */
export const JOURNAL_READ: TableAccess = { GetItem: ['LEDGER'], Query: ['JOURNAL'] }

/** Entries of a window become a settlement. Payments that have waited long are posted first. */
export const SETTLING: TableAccess = allAccess(POSTING, JOURNAL_READ, {
  GetItem: ['AUDIT', 'CLIENT'],
  BatchGetItem: ['SETTLEMENT'],
  PutItem: ['AUDIT', 'SETTLEMENT', 'VERDICT'],
  indexes: ['by-open'],
})

/** Sums and one window. */
export const BALANCE: TableAccess = { Query: ['LEDGER'] }

/** A payment with its events, deliveries and settlements. */
export const TIMELINE: TableAccess = {
  GetItem: ['PAYMENT'],
  BatchGetItem: ['DELIVERY', 'SETTLEMENT', 'SUSPENSE'],
  Query: ['DELIVERY', 'PAYMENT'],
  QueryFields: ['ENDPOINTS'],
  indexes: ['by-owner'],
}

/** An index suggests what a batch then reads. */
export const listed = (kind: Partition, ...indexes: readonly IndexName[]): TableAccess => ({
  BatchGetItem: [kind],
  indexes,
})

/** An operator's change of one item, and its record. */
export const changed = (kind: Partition): TableAccess => allAccess(RECORDED, { GetItem: [kind], UpdateItem: [kind] })

/** The total of a list is the ledger's count. */
export const PAYMENT_LISTS: TableAccess = allAccess({ Query: ['LEDGER'] }, listed('PAYMENT', 'by-owner', 'by-status'))

/** By its idempotency key, or by the merchant's reference, whose pointers are in the client's parts. */
export const FOUND_PAYMENTS: TableAccess = { GetItem: ['LEDGER', 'PAYMENT'], Query: ['REFERENCE'] }

/** A payment with its events, when none of its deliveries is in progress. */
export const ERASING: TableAccess = allAccess(RECORDED, FOUND_PAYMENTS, {
  GetItem: ['CLIENT'],
  BatchGetItem: ['DELIVERY', 'PAYMENT'],
  Query: ['DELIVERY', 'PAYMENT'],
  QueryFields: ['ENDPOINTS'],
  UpdateItem: ['PAYMENT'],
})

/** Settlements, and for the bank's file the items that the payout gate checks. */
export const PAYOUT_LISTS: TableAccess = allAccess(
  BALANCE,
  listed('SETTLEMENT', 'by-owner', 'by-due'),
  listed('SUSPENSE', 'by-status'),
  { GetItem: ['CLIENT', 'PAYMENT', 'VERDICT'] },
)

/** The entries of a settlement. */
export const SETTLED_ENTRIES: TableAccess = allAccess(JOURNAL_READ, { GetItem: ['SETTLEMENT'] })

/** A client's entries, with the settlements that took them. */
export const BALANCE_ENTRIES: TableAccess = allAccess(JOURNAL_READ, listed('SETTLEMENT', 'by-owner'))

/** One delivery with its attempts. */
export const OWN_DELIVERY: TableAccess = { GetItem: ['DELIVERY'], Query: ['DELIVERY'] }

/** Deliveries with their attempts, of all endpoints of a client. */
export const OWN_DELIVERIES: TableAccess = allAccess(
  { GetFields: ['ENDPOINTS'], Query: ['DELIVERY'], QueryFields: ['ENDPOINTS'] },
  listed('DELIVERY', 'by-owner', 'by-status'),
)
export const DELIVERY_LISTS: TableAccess = allAccess({ GetItem: ['CLIENT'] }, OWN_DELIVERIES)

/** Alerts operators about abandoned deliveries of an endpoint. */
const TELLING: TableAccess = {
  GetItem: ['DELIVERY'],
  GetFields: ['ENDPOINTS'],
  BatchGetItem: ['DELIVERY'],
  UpdateItem: ['DELIVERY'],
  UpdateFields: ['ENDPOINTS'],
  indexes: ['by-owner', 'by-status'],
}

/** A new round of a delivery; the event whose bytes it sends is in the partition of its payment. */
export const ROUNDS: TableAccess = allAccess(TELLING, { GetFields: ['PAYMENT'], UpdateItem: ['DELIVERY', 'PAYMENT'] })

/** New rounds of deliveries, and deliveries of events that had none. Events are in the partitions of their payments. */
export const REDELIVERING_SINCE: TableAccess = allAccess(ROUNDS, {
  GetItem: ['LEDGER'],
  BatchGetItem: ['DELIVERY', 'PAYMENT'],
  PutItem: ['DELIVERY'],
})
export const REDELIVERING: TableAccess = allAccess(REDELIVERING_SINCE, RECORDED, { GetItem: ['DELIVERY'] })

/** Whether the provider is paused, and setting it. */
export const PAUSES: TableAccess = { GetItem: ['QUOTA'], UpdateItem: ['QUOTA'] }

/**
 * The provider's transactions, compared with the books slice by slice: settled rows are posted, reversals are booked.
 */
export const SYNCING: TableAccess = allAccess(NEWS, PAUSES, POSTING, {
  GetItem: ['SUSPENSE', 'SYNC'],
  BatchGetItem: ['PAYMENT'],
  PutItem: ['SYNC'],
  UpdateItem: ['HOUSE', 'SYNC'],
  indexes: ['by-due'],
})

/** Due items, by kind: news of payments, messages of deliveries, alerts. */
export const DUE_PAYMENTS: TableAccess = allAccess(NEWS, PAUSES, listed('PAYMENT', 'by-due'))
export const DUE_DELIVERIES: TableAccess = allAccess(listed('DELIVERY', 'by-due'), {
  GetItem: ['DELIVERY'],
  UpdateItem: ['DELIVERY'],
})
export const DUE_ALERTS: TableAccess = allAccess(TELLING, DUE_DELIVERIES, {
  BatchGetItem: ['SUSPENSE'],
  UpdateItem: ['SUSPENSE'],
})

/**
 * The items that a settlement is compared with: its entries, their payments, its trail and its client's other
 * settlements.
 */
const SETTLEMENT_AUDIT: TableAccess = {
  GetItem: ['AUDIT', 'CLIENT', 'JOURNAL', 'VERDICT'],
  BatchGetItem: ['PAYMENT', 'SETTLEMENT'],
  Query: ['ADJUSTMENT', 'AUDIT', 'JOURNAL', 'LEDGER'],
  indexes: ['by-owner'],
}

/** A client's books. Findings are written to items without money. */
const CLIENT_AUDIT: TableAccess = allAccess(SETTLEMENT_AUDIT, {
  BatchGetItem: ['DELIVERY', 'JOURNAL'],
  QueryFields: ['ENDPOINTS'],
  PutItem: ['VERDICT'],
  indexes: ['by-open', 'by-status'],
})

/** The same, and the books of the house. */
export const AUDITING: TableAccess = allAccess(CLIENT_AUDIT, { BatchGetItem: ['SUSPENSE'], Query: ['HOUSE'] })

/** After a restore the audit's findings are judged again and repaired. */
export const RECOUNTING: TableAccess = allAccess(CLIENT_AUDIT, RECORDED, {
  GetItem: ['PAYMENT', 'SUSPENSE'],
  GetFields: ['ENDPOINTS'],
  PutItem: ['DELIVERY', 'DESTINATION', 'JOURNAL', 'PAYMENT', 'REFERENCE'],
  UpdateItem: ['LEDGER', 'PAYMENT', 'SETTLEMENT', 'SUSPENSE'],
  UpdateFields: ['LEDGER'],
  ConditionCheckItem: ['PAYMENT'],
})

/** Paying out a settlement as its audit and its gate saw it. */
export const PAYING_OUT: TableAccess = allAccess(SETTLEMENT_AUDIT, changed('SETTLEMENT'), {
  GetItem: ['PAYMENT'],
  BatchGetItem: ['SUSPENSE'],
  PutItem: ['REFERENCE'],
  UpdateItem: ['LEDGER'],
  ConditionCheckItem: ['CLIENT', 'VERDICT'],
  indexes: ['by-status'],
})

/** The books: entries of clients and of the house, with the totals that settlements keep. */
export const BOOKS: TableAccess = allAccess(JOURNAL_READ, {
  GetItem: ['CLIENT'],
  BatchGetItem: ['SETTLEMENT'],
  Query: ['HOUSE'],
  indexes: ['by-owner'],
})
