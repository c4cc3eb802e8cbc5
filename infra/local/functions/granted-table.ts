import { OPEN_FIELDS, type TableAccess, type TableAction } from '../../../shared/table/access.ts'
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
      const open = Object.entries(OPEN_FIELDS).find(([kind]) => key.pk.startsWith(`${kind}#`))?.[1] ?? []
      const action = fields.every((field) => open.includes(field)) ? 'GetFields' : 'GetItem'
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

const written = ({ kind, key }: Step): Touch => ({ action: STEP_ACTIONS[kind], pk: key.pk })
