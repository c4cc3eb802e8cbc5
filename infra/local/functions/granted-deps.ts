import type { FunctionSpec, SecretAccess } from '../../../functions/function-spec.ts'
import type { Deps } from '../../../shared/deps.ts'
import { callbackSecretName, providerSecretName, type Secrets } from '../../../shared/secrets.ts'
import {
  OPEN_FIELDS,
  type ReadFields,
  type TableAccess,
  type TableAction,
  type UpdatedFields,
} from '../../../shared/table/access.ts'
import { attributeName } from '../../../shared/table/attributes.ts'
import { type Key, PARTITIONS, pkPrefix } from '../../../shared/table/keys.ts'
import type { Condition, Step, UpdateStep } from '../../../shared/table/step.ts'
import type { QueryInput, Table } from '../../../shared/table/table.ts'

/** The function's manifest entry does not state this access. On AWS, IAM refuses it. */
export class AccessDenied extends Error {
  override readonly name = 'AccessDeniedException'
}

type GrantedDeps = Pick<Deps, 'table' | 'queues' | 'alerts' | 'secrets' | 'sealer'>

/**
 * The stack grants the same access on AWS, so a missing manifest entry is found before a
 * deployment.
 */
export function grantedDeps(stage: string, spec: FunctionSpec, deps: GrantedDeps): GrantedDeps {
  const refuse = (access: string): never => {
    throw new AccessDenied(
      `${spec.name} is not granted ${access}: add it to its entry in functions/manifest.ts`,
    )
  }
  const demand = (granted: boolean, access: string) => {
    if (!granted) refuse(access)
  }
  return {
    table: grantedTable(deps.table, spec, refuse),
    queues: {
      send: async (queue, ...messages) => {
        demand(spec.sends.includes(queue), `sending to ${queue}`)
        await deps.queues.send(queue, ...messages)
      },
    },
    alerts: {
      publish: async (alert) => {
        demand(spec.alerts, 'publishing alerts')
        await deps.alerts.publish(alert)
      },
    },
    secrets: grantedSecrets(stage, deps.secrets, (access) =>
      demand(access !== 'another secret' && spec.secrets.includes(access), access),
    ),
    sealer: {
      seal: async (...args) => {
        demand(spec.endpointSecrets === 'seal', 'sealing secrets of endpoints')
        return deps.sealer.seal(...args)
      },
      unseal: async (...args) => {
        demand(spec.endpointSecrets === 'unseal', 'unsealing secrets of endpoints')
        return deps.sealer.unseal(...args)
      },
    },
  }
}

type Access =
  | { readonly action: TableAction; readonly pk: unknown; readonly fields?: readonly string[] }
  | { readonly action: 'Query'; readonly index: string }

/**
 * Allows only the items and indexes of the manifest entry. Before a request it calls `refuse` with
 * a missing access; `refuse` throws.
 */
function grantedTable(
  table: Table,
  granted: Pick<FunctionSpec, 'table' | 'updates'>,
  refuse: (access: string) => never,
): Table {
  const demand = (...accesses: readonly Access[]) => {
    for (const access of accesses) {
      if (!isGranted(granted.table, access)) refuse(describeAccess(access))
      const missing = missingFields(granted.updates, access)
      if (missing.length > 0) refuse(`${describeAccess(access)} with ${missing.join(', ')}`)
    }
  }
  return {
    get: async (key, fields) => {
      demand(accessOfGet(key, fields))
      return table.get(key, fields)
    },
    getFields: async (key, fields) => {
      demand(accessOfGet(key, fields))
      return table.getFields(key, fields)
    },
    getMany: async (keys, reads, fields) => {
      demand(...keys.map((key) => accessOfBatch(key, keys, fields)))
      return table.getMany(keys, reads, fields)
    },
    query: async (input) => {
      demand(accessOfQuery(input))
      return table.query(input)
    },
    write: async (step) => {
      demand(accessOfStep(step))
      return table.write(step)
    },
    transact: async (steps, options) => {
      // Each step of a transaction needs the permission of the same single action.
      demand(
        ...Object.values<Step | undefined>(steps).flatMap((step) =>
          step ? [accessOfStep(step)] : [],
        ),
      )
      return table.transact(steps, options)
    },
  }
}

function isGranted(granted: TableAccess, access: Access) {
  if ('index' in access) return (granted.indexes ?? []).some((index) => index === access.index)
  const { action, pk } = access
  // A function that may see an item needs no right to an update without an answer.
  const actions = action === 'UpdateFields' ? ([action, 'UpdateItem'] as const) : [action]
  const partitions = actions.flatMap((name) => granted[name] ?? [])
  return (
    typeof pk === 'string' && partitions.some((partition) => pk.startsWith(pkPrefix(partition)))
  )
}

/** The keys are granted with every update, because IAM counts them too. */
function missingFields(updates: UpdatedFields, access: Access) {
  if ('index' in access || access.fields === undefined) return []
  const kind = PARTITIONS.find((partition) => String(access.pk).startsWith(pkPrefix(partition)))
  const granted = ['pk', 'sk', ...((kind && updates[kind]) ?? [])]
  return access.fields.filter((field) => !granted.includes(field))
}

/** Names the kind of the item, without its id, because the text is logged. */
function describeAccess(access: Access) {
  return 'index' in access
    ? `dynamodb:Query on index ${access.index}`
    : `dynamodb:${access.action} on items ${String(access.pk).replace(/#.*$/s, '#')}`
}

function accessOfGet({ pk }: Key, fields: readonly string[] | undefined): Access {
  return { action: fields && areOpen('GetFields', pk, fields) ? 'GetFields' : 'GetItem', pk }
}

/** Each field of a batch must be open for the kind of one of its keys. */
function accessOfBatch(
  { pk }: Key,
  keys: readonly Key[],
  fields: readonly string[] | undefined,
): Access {
  const isOpen = fields?.every((field) =>
    keys.some((key) => areOpen('BatchGetFields', key.pk, [field])),
  )
  return { action: isOpen === true ? 'BatchGetFields' : 'BatchGetItem', pk }
}

/** Every request needs the keys, so an action may always use them. */
function areOpen(action: ReadFields, pk: unknown, fields: readonly string[]) {
  const openFields =
    Object.entries(OPEN_FIELDS[action]).find(([kind]) => String(pk).startsWith(`${kind}#`))?.[1] ??
    []
  return fields.every((field) => ['pk', 'sk', ...openFields].includes(attributeName(field)))
}

function accessOfQuery({ index, partition: [pk], fields }: QueryInput): Access {
  if (index !== undefined) return { action: 'Query', index }
  return { action: fields && areOpen('QueryFields', pk, fields) ? 'QueryFields' : 'Query', pk }
}

const STEP_ACTIONS = {
  put: 'PutItem',
  delete: 'DeleteItem',
  check: 'ConditionCheckItem',
} as const satisfies Record<Exclude<Step['kind'], 'update'>, TableAction>

function accessOfStep(step: Step): Access {
  const { pk } = step.key
  if (step.kind !== 'update') return { action: STEP_ACTIONS[step.kind], pk }
  const action = step.returnsNothing === true ? 'UpdateFields' : 'UpdateItem'
  return { action, pk, fields: namedIn(step).map(attributeName) }
}

/** IAM counts the changed fields, and the fields in the condition. */
function namedIn({ changes: { remove = [], ...changes }, condition }: UpdateStep) {
  const changedFields = Object.values(changes).flatMap((fields) =>
    Object.entries(fields ?? {}).flatMap(([field, value]) => (value === undefined ? [] : [field])),
  )
  return [...changedFields, ...remove, ...fieldsOf(condition)]
}

function fieldsOf(condition: Condition | undefined): readonly string[] {
  if (condition === undefined) return []
  return 'of' in condition ? condition.of.flatMap(fieldsOf) : [condition.field]
}

/** IAM identifies secrets by name. Functions can have only the provider's secrets. */
function grantedSecrets(
  stage: string,
  secrets: Secrets,
  demand: (access: SecretAccess | 'another secret') => void,
): Secrets {
  const providerSecrets = new Map<string, SecretAccess>([
    [providerSecretName(stage), 'read-provider'],
    [callbackSecretName(stage), 'read-callback-tokens'],
  ])
  return {
    get: async (name, fresh) => {
      demand(providerSecrets.get(name) ?? 'another secret')
      return secrets.get(name, fresh)
    },
  }
}
