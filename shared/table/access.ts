import type { Partition } from './keys.ts'
import type { IndexName } from './schema.ts'

/** What can be asked of the table. A transaction needs no permission of its own: each of its steps is one of these. */
export const TABLE_ACTIONS = [
  'GetItem',
  /** GetItem of the open fields alone. */
  'GetFields',
  'BatchGetItem',
  'Query',
  /** Query of the open fields alone. */
  'QueryFields',
  'PutItem',
  'UpdateItem',
  /** UpdateItem of open fields alone. */
  'UpdateFields',
  'DeleteItem',
  /** A step of a transaction that writes nothing. */
  'ConditionCheckItem',
] as const
export type TableAction = (typeof TABLE_ACTIONS)[number]

/** What IAM calls it. */
export const iamAction = (action: TableAction): string =>
  action === 'QueryFields' ? 'dynamodb:Query' : `dynamodb:${action.replace('Fields', 'Item')}`

export type FieldAction = Extract<TableAction, `${string}Fields`>

/** Of an endpoint everything but its sealed secret, which the delivery worker alone reads. */
const ENDPOINT_FIELDS = [
  'client_id',
  'created_at',
  'deleted_at',
  'enabled',
  'endpoint_id',
  'event_types',
  'last_alert_at',
  'slow_since',
  'ttl',
  'url',
]

/** Attributes that may be read or written on their own, by functions that must not touch the rest of such an item. */
export const OPEN_FIELDS: Readonly<Record<FieldAction, Readonly<Partial<Record<Partition, readonly string[]>>>>> = {
  // Of events: what a webhook carries, and nothing of the payment beside it.
  GetFields: { ENDPOINTS: ENDPOINT_FIELDS, PAYMENT: ['body', 'ttl'] },
  QueryFields: { ENDPOINTS: ENDPOINT_FIELDS },
  UpdateFields: {
    // What the delivery worker notes of an endpoint; where it leads and to what is the operators' alone.
    ENDPOINTS: ['slow_since', 'last_alert_at'],
    // What a payment's transition moves of a shard. The window beside it and the fence are for those that post and settle.
    LEDGER: [
      'credited_at',
      'credited_minor',
      'count_cancelled',
      'count_expired',
      'count_failed',
      'count_pending',
      'count_succeeded',
    ],
  },
}

/**
 * What a function may do with the table: for each action the kinds of partitions, and the indexes it may query. Indexes
 * suggest keys of every kind and client; what stands under them is read by another action, on partitions stated here.
 */
export type TableAccess = { readonly [Action in TableAction]?: readonly Partition[] } & {
  readonly indexes?: readonly IndexName[]
}

const union = <Name extends string>(lists: readonly (readonly Name[] | undefined)[]): readonly Name[] =>
  [...new Set(lists.flatMap((list) => list ?? []))].toSorted()

/** All of several accesses in one, each name once and in alphabetical order. */
export const allAccess = (...parts: readonly TableAccess[]): TableAccess => {
  const indexes = union(parts.map((part) => part.indexes))
  const actions = TABLE_ACTIONS.map((action) => [action, union(parts.map((part) => part[action]))] as const)
  return {
    ...Object.fromEntries(actions.filter(([, partitions]) => partitions.length > 0)),
    ...(indexes.length > 0 && { indexes }),
  }
}
