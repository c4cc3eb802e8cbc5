import { type FieldAction, OPEN_FIELDS, type TableAccess, type TableAction } from '../../../shared/table/access.ts'
import { attributeName } from '../../../shared/table/attributes.ts'
import type { Condition } from '../../../shared/table/condition.ts'
import { type Key, pkPrefix } from '../../../shared/table/keys.ts'
import type { Step } from '../../../shared/table/step.ts'
import type { QueryInput, Table } from '../../../shared/table/table.ts'

/** One thing that IAM would check by itself: an action on the item of a partition, or a query of an index. */
type Touch =
  | { readonly action: TableAction; readonly pk: unknown }
  | { readonly action: 'Query'; readonly index: string }

/**
 * A table that refuses, as the function's role does on AWS, every item and index that its manifest entry does not
 * state: `refuse` is told what is missing, before anything is asked, and throws.
 */
export const grantedTable = (table: Table, granted: TableAccess, refuse: (access: string) => never): Table => {
  const demand = (...touches: readonly Touch[]) => {
    for (const touch of touches) if (!isGranted(granted, touch)) refuse(describe(touch))
  }
  return {
    get: async (key) => {
      demand({ action: 'GetItem', pk: key.pk })
      return table.get(key)
    },
    getFields: async (key, fields) => {
      const action = areOpen('GetFields', key, fields) ? 'GetFields' : 'GetItem'
      demand({ action, pk: key.pk })
      return table.getFields(key, fields)
    },
    getMany: async (keys, reads) => {
      demand(...keys.map(({ pk }: Key): Touch => ({ action: 'BatchGetItem', pk })))
      return table.getMany(keys, reads)
    },
    query: async (input) => {
      demand(queried(input))
      return table.query(input)
    },
    write: async (step) => {
      demand(written(step))
      return table.write(step)
    },
    transact: async (steps, options) => {
      // A transaction needs no permission of its own; each of its steps needs that of the single action it is.
      demand(...Object.values<Step | undefined>(steps).flatMap((step) => (step ? [written(step)] : [])))
      return table.transact(steps, options)
    },
  }
}

const isGranted = (granted: TableAccess, touch: Touch): boolean => {
  if ('index' in touch) return (granted.indexes ?? []).some((index) => index === touch.index)
  const { action, pk } = touch
  return typeof pk === 'string' && (granted[action] ?? []).some((partition) => pk.startsWith(pkPrefix(partition)))
}

/** The kind of the item without its id, which may be anybody's. */
const describe = (touch: Touch): string =>
  'index' in touch
    ? `dynamodb:Query on index ${touch.index}`
    : `dynamodb:${touch.action} on items ${String(touch.pk).replace(/#.*$/s, '#')}`

const queried = ({ index, partition }: QueryInput): Touch =>
  index === undefined ? { action: 'Query', pk: partition[0] } : { action: 'Query', index }

const STEP_ACTIONS = {
  put: 'PutItem',
  update: 'UpdateItem',
  delete: 'DeleteItem',
  check: 'ConditionCheckItem',
} as const satisfies Record<Step['kind'], TableAction>

const written = (step: Step): Touch => ({
  action: isOfFields(step) ? 'UpdateFields' : STEP_ACTIONS[step.kind],
  pk: step.key.pk,
})

/** Whether all of these may be touched on their own; the keys always are, as nothing is found without them. */
const areOpen = (action: FieldAction, { pk }: Key, fields: readonly string[]): boolean => {
  const open = Object.entries(OPEN_FIELDS[action]).find(([kind]) => pk.startsWith(`${kind}#`))?.[1] ?? []
  return fields.every((field) => ['pk', 'sk', ...open].includes(attributeName(field)))
}

/** Everything an update names counts: what it changes, and what its condition looks at. */
const isOfFields = (step: Step): boolean => {
  if (step.kind !== 'update' || step.untold !== true) return false
  const { remove = [], ...changes } = step.changes
  const changed = Object.values(changes).flatMap((fields) => Object.keys(fields ?? {}))
  return areOpen('UpdateFields', step.key, [...changed, ...remove, ...fieldsOf(step.condition)])
}

const fieldsOf = (condition: Condition | undefined): readonly string[] => {
  if (condition === undefined) return []
  return 'of' in condition ? condition.of.flatMap(fieldsOf) : [condition.field]
}
