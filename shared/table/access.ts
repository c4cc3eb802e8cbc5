import type { Partition } from './keys.ts'
import type { IndexName } from './schema.ts'

/**
 * `GetFields`, `BatchGetFields` and `QueryFields` read only open fields. Every update names only
 * the fields that the function's entry lists; `UpdateFields` also returns nothing of the item. A
 * transaction needs the actions of its steps.
 */
export const TABLE_ACTIONS = [
  'GetItem',
  'GetFields',
  'BatchGetItem',
  'BatchGetFields',
  'Query',
  'QueryFields',
  'PutItem',
  'UpdateItem',
  'UpdateFields',
  'DeleteItem',
  'ConditionCheckItem',
] as const
export type TableAction = (typeof TABLE_ACTIONS)[number]

export function iamAction(action: TableAction) {
  return action === 'QueryFields'
    ? 'dynamodb:Query'
    : `dynamodb:${action.replace('Fields', 'Item')}`
}

export type ReadFields = Extract<TableAction, 'GetFields' | 'BatchGetFields' | 'QueryFields'>

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
  Record<ReadFields, Readonly<Partial<Record<Partition, readonly string[]>>>>
> = {
  GetFields: { ENDPOINTS: ENDPOINT_FIELDS, EVENT: ['body', 'owner', 'ttl'] },
  // A batch names its fields once for all its keys. The bank details of a client are left out.
  BatchGetFields: {
    APIKEY: ['client_id', 'expires_at', 'permissions', 'revoked_at', 'ttl'],
    CLIENT: ['client_id', 'enabled', 'name', 'rate_limit_per_second', 'return_url', 'ttl'],
  },
  // Of audit records only the keys, which name the clients of the register. Every read of fields
  // also reads `ttl` (retryingTable).
  QueryFields: { AUDIT: ['ttl'], ENDPOINTS: ENDPOINT_FIELDS },
}

/** Attributes that an update changes or compares, by kind of item. */
export type UpdatedFields = Readonly<Partial<Record<Partition, readonly string[]>>>

/** An index answers keys of every kind and client. */
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
