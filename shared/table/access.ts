import type { Partition } from './keys.ts'
import type { IndexName } from './schema.ts'

/** `…Fields` actions reach only open fields. A transaction needs the actions of its steps. */
export const TABLE_ACTIONS = [
  'GetItem',
  'GetFields',
  'BatchGetItem',
  'Query',
  'QueryFields',
  'PutItem',
  'UpdateItem',
  'UpdateFields',
  'DeleteItem',
  'ConditionCheckItem',
] as const
export type TableAction = (typeof TABLE_ACTIONS)[number]

export function iamAction(action: TableAction): string {
  return action === 'QueryFields'
    ? 'dynamodb:Query'
    : `dynamodb:${action.replace('Fields', 'Item')}`
}

export type FieldAction = Extract<TableAction, `${string}Fields`>

/** The sealed secret is left out, because only the delivery worker reads it. */
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

export const OPEN_FIELDS: Readonly<
  Record<FieldAction, Readonly<Partial<Record<Partition, readonly string[]>>>>
> = {
  GetFields: { ENDPOINTS: ENDPOINT_FIELDS, EVENT: ['body', 'ttl'] },
  // Of audit records only the keys, which name the clients of the register.
  QueryFields: { AUDIT: [], ENDPOINTS: ENDPOINT_FIELDS },
  UpdateFields: {
    CLIENT: ['endpoint_count'],
    // The delivery worker's notes on an endpoint; only operators change its URL and event types.
    ENDPOINTS: ['slow_since', 'last_alert_at'],
    // A redelivery keeps an event. Its bytes are changed by an erasure alone.
    EVENT: ['ttl'],
    // The shard fields of a payment's transition. Only posting and settlement change the window and
    // the fence.
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
 * The kinds of partitions that each action may reach. An index answers keys of every kind and
 * client.
 */
export type TableAccess = { readonly [Action in TableAction]?: readonly Partition[] } & {
  readonly indexes?: readonly IndexName[]
}

export function allAccess(...parts: readonly TableAccess[]): TableAccess {
  const lists = [...TABLE_ACTIONS, 'indexes' as const].map((name) => {
    const entries = parts.flatMap((part): readonly string[] => part[name] ?? [])
    return [name, [...new Set(entries)].toSorted()] as const
  })
  return Object.fromEntries(lists.filter(([, list]) => list.length > 0))
}
