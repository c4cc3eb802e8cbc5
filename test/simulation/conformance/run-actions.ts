import {
  above,
  absent,
  all,
  any,
  atMost,
  below,
  type Condition,
  contains,
  differs,
  equals,
  exists,
  present,
} from '../../../shared/table/condition.ts'
import { type Changes, check, put, remove, type Step, update } from '../../../shared/table/step.ts'
import type { QueryInput } from '../../../shared/table/table.ts'
import { itemsOf } from './queries-conformance.ts'
import type { Action, ActionCondition, ActionQuery, ActionStep, Change, Fields } from './random-actions.ts'
import type { Key, TableCommands } from './table-commands.ts'

const SORT_KEYS = ['A', 'B#1', 'B#2', 'A']

/** Values that name a partition of an index, which only one sequence may use. */
const SCOPED = ['owner', 'clientId', 'client_id', 'work']
const MAX_PAGES = 10

const JOINED = { all, any }
const PRESENCE = { present, absent }
const COMPARED = { equals, differs, atMost, below, above, contains }

/** Runs actions in a corner of the table of their own, and answers what each came to. */
export const actionRunner = (commands: TableCommands, corner: string) => {
  const keyOf = (at: number): Key => ({ pk: `${corner}-${at % 2}`, sk: SORT_KEYS[at] ?? 'C' })

  const scoped = (fields: Fields, key: number): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(fields).map(([field, value]) => {
        if (field === 'id' && value === 'own') return [field, `id-${3 - key}`]
        return [field, SCOPED.includes(field) && value !== '' && typeof value === 'string' ? corner + value : value]
      }),
    )

  const conditionOf = (condition: ActionCondition, key: number): Condition => {
    if ('of' in condition) return JOINED[condition.test](...condition.of.map((inner) => conditionOf(inner, key)))
    if ('field' in condition) return PRESENCE[condition.test](condition.field)
    const [compared] = Object.entries(scoped(condition.fields, key))
    if (!compared) throw new Error('a comparison has a field')
    return COMPARED[condition.test](...compared)
  }

  const stepOf = (step: ActionStep): Step => {
    const key = keyOf(step.key)
    const condition = step.condition && conditionOf(step.condition, step.key)
    switch (step.kind) {
      case 'put':
        return put(key, scoped(step.item, step.key), condition)
      case 'update':
        return update(key, changesOf(step.changes, step.key), condition)
      case 'remove':
        return remove(key, condition ?? exists)
      case 'check':
        return check(key, condition ?? exists)
    }
  }

  const changesOf = (changes: readonly Change[], key: number): Changes => ({
    ...merged(changes, 'set', key),
    ...merged(changes, 'setIfAbsent', key),
    ...merged(changes, 'add', key),
    ...merged(changes, 'deleteFromSet', key),
    remove: changes.filter(({ how }) => how === 'remove').flatMap(({ fields }) => Object.keys(fields)),
  })

  const merged = (changes: readonly Change[], how: Change['how'], key: number) => {
    const same = changes.filter((change) => change.how === how).map(({ fields }) => scoped(fields, key))
    return same.length > 0 ? { [how]: Object.assign({}, ...same) as Record<string, never> } : {}
  }

  const inputOf = ({
    index,
    partition: [first, ...rest],
    range,
    limit,
    forward,
    countOnly,
  }: ActionQuery): QueryInput => ({
    ...(index && { index }),
    partition: [typeof first === 'number' ? `${corner}-${first}` : `${corner}${String(first)}`, ...rest],
    ...(range && { range }),
    limit,
    newestFirst: !forward,
    countOnly,
  })

  /** All pages of a query, or of its first error. */
  const queryAll = async (query: ActionQuery): Promise<readonly unknown[]> => {
    const pages: Awaited<ReturnType<TableCommands['query']>>[] = []
    let cursor: QueryInput['cursor']
    do {
      const page = await commands.query({ ...inputOf(query), ...(cursor && { cursor }) })
      pages.push(page)
      cursor = 'cursor' in page ? page.cursor : undefined
    } while (cursor && pages.length < MAX_PAGES)
    return pages
  }

  const runAction = async (action: Action): Promise<unknown> => {
    switch (action.kind) {
      case 'write':
        return commands.write(stepOf(action.step))
      case 'transact':
        return commands.transact(action.steps.map(stepOf))
      case 'get':
        return commands.get(keyOf(action.key))
      case 'batch':
        return inOrder(await commands.batchGet(action.keys.map(keyOf)))
      case 'query':
        return queryAll(action.query)
    }
  }

  return { runAction, queryAll, items: () => Promise.all([0, 1, 2, 3].map((at) => commands.get(keyOf(at)))) }
}

/** A batch read has no order. */
const inOrder = (outcome: object): unknown => ('items' in outcome ? { ...outcome, items: itemsOf(outcome) } : outcome)

/** Every partition of every index that the actions can fill, in small pages. */
export const EVERY_PARTITION: readonly ActionQuery[] = ['o1', 'o2'].flatMap((owner) =>
  [
    ...['e1', 'e2'].flatMap((entity) => [
      { index: 'by-owner' as const, partition: [owner, entity] },
      ...['s1', 's2'].map((status) => ({ index: 'by-status' as const, partition: [owner, entity, status] })),
    ]),
    { index: 'by-paid' as const, partition: [owner] },
    ...[0, 9, 10].map((slot) => ({ index: 'by-due' as const, partition: [owner, slot] })),
  ].map((query) => ({ ...query, range: undefined, limit: 3, forward: true, countOnly: false })),
)
