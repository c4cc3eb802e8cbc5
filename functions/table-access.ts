import { allAccess, type TableAccess } from '../shared/table/access.ts'
import type { Partition } from '../shared/table/keys.ts'
import type { IndexName } from '../shared/table/schema.ts'

/** Writes the payment's money, its event with deliveries, and suspense with its alert. */
export const NEWS_OF_VISIBLE_PAYMENT: TableAccess = {
  GetItem: ['PAYMENT', 'SUSPENSE'],
  QueryFields: ['ENDPOINTS'],
  PutItem: ['DELIVERY', 'EVENT', 'SUSPENSE'],
  UpdateItem: ['NOTED', 'PAYMENT', 'SUSPENSE'],
  UpdateFields: ['LEDGER'],
  ConditionCheckItem: ['PAYMENT', 'SUSPENSE'],
}

/** A payment that becomes visible also gets search pointers. */
export const NEWS: TableAccess = allAccess(NEWS_OF_VISIBLE_PAYMENT, {
  PutItem: ['DESTINATION', 'PAYMENT', 'REFERENCE'],
})

/** A create counts its pushes to a phone. */
export const PUSHING: TableAccess = { BatchGetItem: ['PAYMENT'], PutItem: ['PUSHES'] }

/** Appends an audit record to its subject's chain. No function may update or delete a record. */
export const RECORDING: TableAccess = { GetItem: ['AUDIT'], PutItem: ['AUDIT'] }

/** Uses up an approval, in the action's own transaction. Only `approve` puts one. */
export const APPROVED: TableAccess = { GetItem: ['APPROVAL'], UpdateItem: ['APPROVAL'] }

/**
 * Posts a payment or moves its money: payment, shard, entries. No function may update or delete an
 * entry.
 */
const POSTING: TableAccess = {
  GetItem: ['LEDGER', 'PAYMENT'],
  PutItem: ['JOURNAL'],
  UpdateItem: ['LEDGER', 'NOTED', 'PAYMENT', 'SUSPENSE'],
  ConditionCheckItem: ['LEDGER'],
}

export const ADJUSTING: TableAccess = allAccess(RECORDING, APPROVED, {
  GetItem: ['ADJUSTMENT', 'CLIENT', 'JOURNAL', 'LEDGER'],
  BatchGetItem: ['JOURNAL'],
  Query: ['ADJUSTMENT', 'LEDGER'],
  PutItem: ['ADJUSTMENT', 'JOURNAL'],
  UpdateItem: ['HOUSE', 'LEDGER'],
  ConditionCheckItem: ['JOURNAL'],
})

/** Puts an event, with a delivery to each endpoint that wants it. */
export const ANNOUNCING: TableAccess = {
  QueryFields: ['ENDPOINTS'],
  PutItem: ['DELIVERY', 'EVENT'],
}

/** Closes a settlement that no event shows closed. */
export const NOT_ENDED: TableAccess = { ConditionCheckItem: ['EVENT'] }

/** Moves a payment's money for an operator, and announces it. */
export const REFUNDING: TableAccess = allAccess(RECORDING, APPROVED, POSTING, ANNOUNCING, {
  BatchGetItem: ['JOURNAL'],
  GetItem: ['JOURNAL', 'SUSPENSE'],
  UpdateItem: ['HOUSE'],
  ConditionCheckItem: ['JOURNAL'],
})

/** All clients, by the keys of their register. */
export const ALL_CLIENTS: TableAccess = { QueryFields: ['AUDIT'] }

export const JOURNAL_READ: TableAccess = { Query: ['JOURNAL'] }

/** Payments that waited too long are posted first. */
export const SETTLING: TableAccess = allAccess(POSTING, JOURNAL_READ, ANNOUNCING, RECORDING, {
  GetItem: ['CLIENT'],
  BatchGetItem: ['SETTLEMENT'],
  PutItem: ['SETTLEMENT', 'SUSPENSE'],
  indexes: ['by-open'],
})

export const BALANCE: TableAccess = { Query: ['LEDGER'] }

export const STATEMENT: TableAccess = allAccess(
  JOURNAL_READ,
  BALANCE,
  listOf('SETTLEMENT', 'by-owner'),
)

/** A statement that differs from the stored totals is a finding with its alert. */
export const OWN_STATEMENT: TableAccess = allAccess(STATEMENT, {
  GetItem: ['PAYMENT'],
  PutItem: ['SUSPENSE'],
  UpdateItem: ['NOTED', 'SUSPENSE'],
})

/** Test deliveries are shown, and no function behind the API writes them. */
export const OWN_DELIVERY: TableAccess = {
  BatchGetItem: ['DELIVERY', 'TEST'],
  Query: ['DELIVERY', 'TEST'],
}

export const TIMELINE: TableAccess = allAccess(OWN_DELIVERY, {
  GetItem: ['PAYMENT'],
  BatchGetItem: ['SETTLEMENT', 'SUSPENSE'],
  Query: ['EVENT'],
  QueryFields: ['ENDPOINTS'],
  indexes: ['by-owner'],
})

/** An index gives candidates; a consistent batch read decides. */
export function listOf(kind: Partition, ...indexes: readonly IndexName[]): TableAccess {
  return { BatchGetItem: [kind], indexes }
}

export function changeOf(kind: Partition): TableAccess {
  return allAccess(RECORDING, { GetItem: [kind], UpdateItem: [kind] })
}

export const PAYMENT_SEARCH: TableAccess = { GetItem: ['PAYMENT'], Query: ['REFERENCE'] }

/** An erasure first checks that no delivery is in progress. */
export const ERASING: TableAccess = allAccess(RECORDING, PAYMENT_SEARCH, OWN_DELIVERY, {
  GetItem: ['CLIENT'],
  BatchGetItem: ['PAYMENT'],
  Query: ['EVENT'],
  QueryFields: ['ENDPOINTS'],
  UpdateItem: ['EVENT', 'PAYMENT'],
})

export const ENDPOINTS_HEALTH: TableAccess = allAccess(
  OWN_DELIVERY,
  { QueryFields: ['ENDPOINTS'] },
  listOf('DELIVERY', 'by-owner', 'by-status'),
)

export const OWN_DELIVERIES: TableAccess = allAccess(ENDPOINTS_HEALTH, { GetFields: ['ENDPOINTS'] })

const ALERTING: TableAccess = {
  GetFields: ['ENDPOINTS'],
  BatchGetItem: ['DELIVERY', 'TEST'],
  UpdateItem: ['DELIVERY'],
  UpdateFields: ['ENDPOINTS'],
  indexes: ['by-status'],
}

/** Extends the event's retention: its bytes stay, and its payment is out of reach. */
export const ROUNDS: TableAccess = allAccess(ALERTING, {
  GetFields: ['EVENT'],
  UpdateFields: ['EVENT'],
})

export const BULK_REDELIVERING: TableAccess = allAccess(ROUNDS, {
  BatchGetItem: ['EVENT'],
  PutItem: ['DELIVERY'],
  indexes: ['by-owner'],
})

export const PAUSES: TableAccess = { BatchGetItem: ['QUOTA'], UpdateItem: ['QUOTA'] }

export const SYNCING: TableAccess = allAccess(NEWS, PAUSES, POSTING, {
  GetItem: ['SYNC'],
  BatchGetItem: ['JOURNAL', 'PAYMENT', 'SETTLEMENT', 'SUSPENSE'],
  PutItem: ['SYNC'],
  UpdateItem: ['HOUSE', 'SYNC'],
  ConditionCheckItem: ['JOURNAL'],
  indexes: ['by-due'],
})

export const DUE_PAYMENTS: TableAccess = allAccess(NEWS, PAUSES, listOf('PAYMENT', 'by-due'))
export const DUE_DELIVERIES: TableAccess = allAccess(listOf('DELIVERY', 'by-due'), {
  GetFields: ['ENDPOINTS'],
  BatchGetItem: ['TEST'],
  UpdateItem: ['DELIVERY', 'TEST'],
})
export const DUE_ALERTS: TableAccess = allAccess(ALERTING, DUE_DELIVERIES, {
  GetItem: ['PAYMENT'],
  BatchGetItem: ['SUSPENSE'],
  UpdateItem: ['SUSPENSE'],
  indexes: ['by-owner'],
})

/** What finance accepted, and a second person approved. */
export const ACCEPTANCES: TableAccess = { GetItem: ['APPROVAL'], Query: ['AUDIT'] }

/**
 * Books that a settlement's money did not reach the merchant. Sums its entries again, whose window
 * no other settlement may have.
 */
export const RETURNING: TableAccess = allAccess(
  JOURNAL_READ,
  ACCEPTANCES,
  APPROVED,
  changeOf('SETTLEMENT'),
  listOf('SETTLEMENT', 'by-owner'),
  { GetItem: ['LEDGER', 'VERDICT'], PutItem: ['JOURNAL'], UpdateItem: ['LEDGER'] },
)

/** Of a payment whose id does not fit its client it looks for the client. */
const SETTLEMENT_AUDIT: TableAccess = allAccess(ALL_CLIENTS, ACCEPTANCES, {
  GetItem: ['AUDIT', 'CLIENT', 'JOURNAL', 'PAYOUTREF', 'VERDICT'],
  BatchGetItem: ['EVENT', 'JOURNAL', 'PAYMENT', 'SETTLEMENT'],
  Query: ['ADJUSTMENT', 'JOURNAL', 'LEDGER'],
  indexes: ['by-owner'],
})

const WHOLE_AUDIT: TableAccess = allAccess(SETTLEMENT_AUDIT, {
  GetItem: ['BATCH', 'SYNC'],
  BatchGetItem: ['APIKEY', 'DELIVERY', 'DESTINATION', 'NOTED', 'REFERENCE', 'SUSPENSE'],
  Query: ['HOUSE', 'NOTED'],
  QueryFields: ['ENDPOINTS'],
  UpdateItem: ['HOUSE'],
  indexes: ['by-open', 'by-status'],
})

/** It writes a verdict and changes no money. */
export const AUDITING: TableAccess = allAccess(WHOLE_AUDIT, { PutItem: ['VERDICT'] })

/** Writes what an audit derives. No recount updates a payment, and none deletes but an endpoint. */
export const RECOUNTING: TableAccess = allAccess(WHOLE_AUDIT, RECORDING, {
  GetItem: ['ADJUSTMENT', 'APIKEY', 'HOUSE', 'NOTED', 'PAYMENT', 'SUSPENSE'],
  GetFields: ['ENDPOINTS'],
  BatchGetItem: ['LEDGER'],
  Query: ['EVENT'],
  PutItem: [
    'ADJUSTMENT',
    'APIKEY',
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
    'REFERENCE',
    'SETTLEMENT',
    'SUSPENSE',
    'VERDICT',
  ],
  UpdateItem: ['ENDPOINTS', 'LEDGER', 'NOTED', 'SETTLEMENT', 'SUSPENSE'],
  UpdateFields: ['LEDGER'],
  DeleteItem: ['ENDPOINTS'],
  ConditionCheckItem: ['EVENT', 'JOURNAL', 'PAYMENT', 'SETTLEMENT'],
})

/** Figures of a payout: its client's balance, suspense, paid settlements and bank accounts. */
const PAYOUT_FIGURES: TableAccess = {
  GetItem: ['APPROVAL', 'PAYMENT'],
  Query: ['AUDIT', 'LEDGER', 'NOTED'],
  indexes: ['by-status'],
}

export const PAYOUT_LISTS: TableAccess = allAccess(
  ALL_CLIENTS,
  PAYOUT_FIGURES,
  { GetItem: ['CLIENT'] },
  listOf('SETTLEMENT', 'by-owner', 'by-status', 'by-due'),
)

/** Claims settlements for a batch: passes the payout gate, and uses approvals up. */
export const BATCHING: TableAccess = allAccess(
  SETTLEMENT_AUDIT,
  PAYOUT_FIGURES,
  APPROVED,
  changeOf('SETTLEMENT'),
  changeOf('BATCH'),
  { PutItem: ['BATCH'], ConditionCheckItem: ['CLIENT', 'VERDICT'] },
)

/** Pays out a settlement, if its audit and its payout gate still hold. */
export const PAYING_OUT: TableAccess = allAccess(
  SETTLEMENT_AUDIT,
  PAYOUT_FIGURES,
  APPROVED,
  ANNOUNCING,
  changeOf('SETTLEMENT'),
  {
    GetItem: ['BATCH', 'LEDGER'],
    PutItem: ['PAYOUTREF'],
    UpdateItem: ['LEDGER'],
    ConditionCheckItem: ['CLIENT', 'EVENT', 'VERDICT'],
  },
)
