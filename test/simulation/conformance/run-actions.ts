import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb'
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
import { type IndexName, TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { type Changes, check, put, remove, type Step, update } from '../../../shared/table/step.ts'
import type { Action, ActionCondition, ActionQuery, ActionStep, Change, Fields } from './random-actions.ts'
import type { Outcome } from './table-backend.ts'
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

  const writeStep = (action: ActionStep): Promise<Outcome> => {
    const step = stepOf(action)
    if (step.kind === 'put') return commands.putStep(step)
    return step.kind === 'update' ? commands.updateStep(step) : commands.removeStep(step)
  }

  /** All pages of a query, or of its first error. */
  const queryAll = async (query: ActionQuery): Promise<readonly Outcome[]> => {
    const pages: Outcome[] = []
    let cursor: Record<string, unknown> | undefined
    do {
      const page = await commands.query(queryInput(query, scopedPartition(query.partition), cursor))
      pages.push(page)
      cursor = 'output' in page ? (page.output['LastEvaluatedKey'] as typeof cursor) : undefined
    } while (cursor && pages.length < MAX_PAGES)
    return pages
  }

  const scopedPartition = (partition: Fields) => ({
    ...scoped(partition, 0),
    ...(typeof partition['pk'] === 'number' && { pk: `${corner}-${partition['pk']}` }),
  })

  const runAction = async (action: Action): Promise<unknown> => {
    switch (action.kind) {
      case 'write':
        return writeStep(action.step)
      case 'transact':
        return commands.transact(action.steps.map(stepOf), action.token && `${corner}${action.token}`)
      case 'get':
        return commands.get(keyOf(action.key))
      case 'batch':
        return byKey(await commands.batchGet(action.keys.map(keyOf)), commands.backend.tableName)
      case 'query':
        return queryAll(action.query)
    }
  }

  return { runAction, queryAll, items: () => Promise.all([0, 1, 2, 3].map((at) => commands.get(keyOf(at)))) }
}

/** A batch read has no order. */
const byKey = (outcome: Outcome, tableName: string): unknown => {
  if (!('output' in outcome)) return outcome
  const responses = outcome.output['Responses'] as Record<string, readonly Key[]>
  const found = (responses[tableName] ?? []).toSorted((a, b) => (a.pk + a.sk < b.pk + b.sk ? -1 : 1))
  return { ...outcome.output, Responses: found }
}

const RANGES = {
  atMost: (name: string) => `${name} <= :low`,
  equals: (name: string) => `${name} = :low`,
  between: (name: string) => `${name} BETWEEN :low AND :high`,
  beginsWith: (name: string) => `begins_with(${name}, :low)`,
}

const queryInput = (
  { index, range, limit, forward, countOnly }: ActionQuery,
  partition: Fields,
  cursor: Fields | undefined,
): Omit<QueryCommandInput, 'TableName'> => {
  const attributes = Object.keys(partition)
  const sort = sortAttribute(index)
  const terms = attributes.map((attribute) => `#${attribute} = :${attribute}`)
  if (range) {
    terms.push(RANGES[range[0]](`#${sort}`))
    attributes.push(sort)
  }
  return {
    ...(index && { IndexName: index }),
    KeyConditionExpression: terms.join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((attribute) => [`#${attribute}`, attribute])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(partition).map(([attribute, value]) => [`:${attribute}`, value])),
      ...(range && { ':low': range[1] }),
      ...(range?.[0] === 'between' && { ':high': range[2] }),
    },
    Limit: limit,
    ScanIndexForward: forward,
    ConsistentRead: index === undefined,
    ...(cursor && { ExclusiveStartKey: cursor }),
    ...(countOnly && { Select: 'COUNT' }),
  }
}

const sortAttribute = (index: IndexName | undefined): string => (index ? TABLE_SCHEMA.indexes[index].sort[0] : 'sk')

/** Every partition of every index that the actions can fill, in small pages. */
export const EVERY_PARTITION: readonly ActionQuery[] = ['o1', 'o2'].flatMap((owner) =>
  [
    ...['e1', 'e2'].flatMap((entity) => [
      { index: 'by-owner' as const, partition: { owner, entity } },
      ...['s1', 's2'].map((status) => ({ index: 'by-status' as const, partition: { owner, entity, status } })),
    ]),
    { index: 'by-paid' as const, partition: { client_id: owner } },
    ...[0, 9, 10].map((slot) => ({ index: 'by-due' as const, partition: { work: owner, slot } })),
  ].map((query) => ({ ...query, range: undefined, limit: 3, forward: true, countOnly: false })),
)
