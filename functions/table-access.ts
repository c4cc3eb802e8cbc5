import { allAccess, type TableAccess } from '../shared/table/access.ts'
import type { Partition } from '../shared/table/keys.ts'
import type { IndexName } from '../shared/table/schema.ts'

/** One read of key and client; a client's rate limit is an update. */
export const AUTHENTICATION: TableAccess = { BatchGetItem: ['APIKEY', 'CLIENT'], UpdateItem: ['RATE'] }

/**
 * What news of a visible payment may touch: its money, suspense and its alert. An event is put beside its payment, with its
 * deliveries to the endpoints of the client.
 */
export const NEWS_OF_VISIBLE: TableAccess = {
  GetItem: ['PAYMENT'],
  QueryFields: ['ENDPOINTS'],
  PutItem: ['DELIVERY', 'PAYMENT', 'SUSPENSE'],
  UpdateItem: ['PAYMENT', 'SUSPENSE'],
  UpdateFields: ['LEDGER'],
}

/** What any news may touch: what leads to a payment from its destination and its reference is put when it becomes visible. */
export const NEWS: TableAccess = allAccess(NEWS_OF_VISIBLE, { PutItem: ['DESTINATION', 'REFERENCE'] })

/** A change with its audit record: behind the head of the subject's chain. Nothing may update or delete a record. */
export const RECORDED: TableAccess = { GetItem: ['AUDIT'], PutItem: ['AUDIT'] }

/** What posts a payment, or moves its money: the payment, its shard and its entries. Nothing updates or deletes an entry. */
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

/** A client's entries: its window says in how many parts they are. */
export const JOURNAL_READ: TableAccess = { GetItem: ['LEDGER'], Query: ['JOURNAL'] }

/** Entries of a window become a settlement. Payments that waited long are posted before. */
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

/** A list's total is the ledger's count. */
export const PAYMENT_LISTS: TableAccess = allAccess({ Query: ['LEDGER'] }, listed('PAYMENT', 'by-owner', 'by-status'))

/** By its key, or by what a merchant calls its order: what leads there is in the client's parts. */
export const FOUND_PAYMENTS: TableAccess = { GetItem: ['LEDGER', 'PAYMENT'], Query: ['REFERENCE'] }

/** A payment with its events, once none of its deliveries is under way. */
export const ERASING: TableAccess = allAccess(RECORDED, FOUND_PAYMENTS, {
  GetItem: ['CLIENT'],
  BatchGetItem: ['DELIVERY', 'PAYMENT'],
  Query: ['DELIVERY', 'PAYMENT'],
  QueryFields: ['ENDPOINTS'],
  UpdateItem: ['PAYMENT'],
})

/** Settlements, and for the bank's file what the payout gate would ask about. */
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

/** Tells the operators of deliveries of an endpoint that were abandoned. */
const TELLING: TableAccess = {
  GetItem: ['DELIVERY'],
  GetFields: ['ENDPOINTS'],
  BatchGetItem: ['DELIVERY'],
  UpdateItem: ['DELIVERY'],
  UpdateFields: ['ENDPOINTS'],
  indexes: ['by-owner', 'by-status'],
}

/** A new round of a delivery; the event whose bytes it sends is kept, in the partition of its payment. */
export const ROUNDS: TableAccess = allAccess(TELLING, { GetFields: ['PAYMENT'], UpdateItem: ['DELIVERY', 'PAYMENT'] })

/** New rounds of deliveries, and deliveries of events that had none. Events are in the partitions of their payments. */
export const REDELIVERING_SINCE: TableAccess = allAccess(ROUNDS, {
  GetItem: ['LEDGER'],
  BatchGetItem: ['DELIVERY', 'PAYMENT'],
  PutItem: ['DELIVERY'],
})
export const REDELIVERING: TableAccess = allAccess(REDELIVERING_SINCE, RECORDED, { GetItem: ['DELIVERY'] })

/** Whether the provider is paused, and that it is. */
export const PAUSES: TableAccess = { GetItem: ['QUOTA'], UpdateItem: ['QUOTA'] }

/** The provider's transactions held against the books, slice by slice: what settled is posted, what moved is booked. */
export const SYNCING: TableAccess = allAccess(NEWS, PAUSES, POSTING, {
  GetItem: ['SUSPENSE', 'SYNC'],
  BatchGetItem: ['PAYMENT'],
  PutItem: ['SYNC'],
  UpdateItem: ['HOUSE', 'SYNC'],
  indexes: ['by-due'],
})

/** What is due, by kind: news of payments, messages of deliveries, alerts. */
export const DUE_PAYMENTS: TableAccess = allAccess(NEWS, PAUSES, listed('PAYMENT', 'by-due'))
export const DUE_DELIVERIES: TableAccess = allAccess(listed('DELIVERY', 'by-due'), {
  GetItem: ['DELIVERY'],
  UpdateItem: ['DELIVERY'],
})
export const DUE_ALERTS: TableAccess = allAccess(TELLING, DUE_DELIVERIES, {
  BatchGetItem: ['SUSPENSE'],
  UpdateItem: ['SUSPENSE'],
})

/** What a settlement is held against: its entries, their payments, its trail and its client's other settlements. */
const SETTLEMENT_AUDIT: TableAccess = {
  GetItem: ['AUDIT', 'CLIENT', 'JOURNAL', 'VERDICT'],
  BatchGetItem: ['PAYMENT', 'SETTLEMENT'],
  Query: ['ADJUSTMENT', 'AUDIT', 'JOURNAL', 'LEDGER'],
  indexes: ['by-owner'],
}

/** A client's books. What was found is written where no money is. */
const CLIENT_AUDIT: TableAccess = allAccess(SETTLEMENT_AUDIT, {
  BatchGetItem: ['DELIVERY', 'JOURNAL'],
  QueryFields: ['ENDPOINTS'],
  PutItem: ['VERDICT'],
  indexes: ['by-open', 'by-status'],
})

/** The same, and the books of the house. */
export const AUDITING: TableAccess = allAccess(CLIENT_AUDIT, { BatchGetItem: ['SUSPENSE'], Query: ['HOUSE'] })

/** What an audit finds after a restore is judged again and repaired. */
export const RECOUNTING: TableAccess = allAccess(CLIENT_AUDIT, RECORDED, {
  GetItem: ['PAYMENT', 'SUSPENSE'],
  GetFields: ['ENDPOINTS'],
  PutItem: ['DELIVERY', 'DESTINATION', 'JOURNAL', 'PAYMENT', 'REFERENCE'],
  UpdateItem: ['LEDGER', 'PAYMENT', 'SETTLEMENT', 'SUSPENSE'],
  UpdateFields: ['LEDGER'],
  ConditionCheckItem: ['PAYMENT'],
})

/** A settlement is paid out as its audit and its gate saw it. */
export const PAYING_OUT: TableAccess = allAccess(SETTLEMENT_AUDIT, changed('SETTLEMENT'), {
  GetItem: ['PAYMENT'],
  BatchGetItem: ['SUSPENSE'],
  PutItem: ['REFERENCE'],
  UpdateItem: ['LEDGER'],
  ConditionCheckItem: ['CLIENT', 'VERDICT'],
  indexes: ['by-status'],
})

/** The books: entries of clients and of the house, with what settlements keep of theirs. */
export const BOOKS: TableAccess = allAccess(JOURNAL_READ, {
  GetItem: ['CLIENT'],
  BatchGetItem: ['SETTLEMENT'],
  Query: ['HOUSE'],
  indexes: ['by-owner'],
})
