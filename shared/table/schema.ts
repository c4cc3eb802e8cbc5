/** The one table (design section 3), for the CDK stack, the local gateway and the tests. */

/** An index has only its key attributes (KEYS_ONLY). */
export type IndexSchema = {
  readonly partition: readonly string[]
  readonly sort: readonly string[]
}

export const TABLE_SCHEMA = {
  partitionKey: 'pk',
  sortKey: 'sk',
  ttl: 'ttl',
  attributeTypes: {
    pk: 'S',
    sk: 'S',
    owner: 'S',
    entity: 'S',
    status: 'S',
    listed_at: 'S',
    id: 'S',
    open_at: 'S',
    work: 'S',
    slot: 'N',
    due_at: 'S',
  },
  indexes: {
    'by-owner': { partition: ['owner', 'entity'], sort: ['listed_at', 'id'] },
    'by-status': { partition: ['owner', 'entity', 'status'], sort: ['listed_at', 'id'] },
    'by-open': { partition: ['owner'], sort: ['open_at', 'id'] },
    'by-due': { partition: ['work', 'slot'], sort: ['due_at', 'id'] },
  },
} as const
export type IndexName = keyof typeof TABLE_SCHEMA.indexes

export function keyAttributes(index: IndexName | undefined) {
  return index === undefined
    ? ({ partition: ['pk'], sort: ['sk'] } as const)
    : TABLE_SCHEMA.indexes[index]
}

/** The number of index partitions of each kind of due work. */
export const WORK_SLOTS = { payment: 16, delivery: 16, alert: 1, payout: 1, sync: 1 } as const
export type Work = keyof typeof WORK_SLOTS

export const LEDGER_SHARDS = 16

/** The owner of items that belong to no client: clients themselves and suspense. */
export const GATEWAY_OWNER = 'gateway'
