import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { type Item, toItem } from './attributes.ts'
import { type Condition, type Placeholders, placeholders } from './condition.ts'
import type { Key } from './keys.ts'

/** What an update does to its item. Fields are named as in code; `set` skips undefined values. */
export type Changes = {
  readonly set?: Readonly<Record<string, unknown>>
  readonly setIfAbsent?: Readonly<Record<string, unknown>>
  readonly add?: Readonly<Record<string, number | Set<string>>>
  readonly deleteFromSet?: Readonly<Record<string, Set<string>>>
  readonly remove?: readonly string[]
}

/** One item's part in a write. A step without a condition rides in a transaction that another step's condition guards. */
export type Step =
  | { readonly kind: 'put'; readonly key: Key; readonly item: Item; readonly condition: Condition | undefined }
  | { readonly kind: 'update'; readonly key: Key; readonly changes: Changes; readonly condition: Condition | undefined }
  | { readonly kind: 'delete'; readonly key: Key; readonly condition: Condition }
  | { readonly kind: 'check'; readonly key: Key; readonly condition: Condition }

export const put = (key: Key, record: object, condition?: Condition): Step => ({
  kind: 'put',
  key,
  item: toItem(record),
  condition,
})

export const update = (key: Key, changes: Changes, condition?: Condition): Step => ({
  kind: 'update',
  key,
  changes,
  condition,
})

export const remove = (key: Key, condition: Condition): Step => ({ kind: 'delete', key, condition })

export const check = (key: Key, condition: Condition): Step => ({ kind: 'check', key, condition })

const defined = (fields: Readonly<Record<string, unknown>> | undefined) =>
  Object.entries(fields ?? {}).filter(([, value]) => value !== undefined)

const clause = (word: string, parts: readonly string[]) => (parts.length > 0 ? [`${word} ${parts.join(', ')}`] : [])

const updateExpression = (changes: Changes, p: Placeholders): string => {
  const assignments = [
    ...defined(changes.set).map(([field, value]) => `${p.name(field)} = ${p.value(value)}`),
    ...defined(changes.setIfAbsent).map(
      ([field, value]) => `${p.name(field)} = if_not_exists(${p.name(field)}, ${p.value(value)})`,
    ),
  ]
  return [
    ...clause('SET', assignments),
    ...clause(
      'ADD',
      defined(changes.add).map(([field, value]) => `${p.name(field)} ${p.value(value)}`),
    ),
    ...clause(
      'DELETE',
      defined(changes.deleteFromSet).map(([field, value]) => `${p.name(field)} ${p.value(value)}`),
    ),
    ...clause(
      'REMOVE',
      (changes.remove ?? []).map((field) => p.name(field)),
    ),
  ].join(' ')
}

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** The SDK's form of a step. A refusal always brings back the item as it was, which saves the read after it. */
export const toTransactItem = (tableName: string, step: Step): TransactItem => {
  const p = placeholders()
  const base = { TableName: tableName, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }
  switch (step.kind) {
    case 'put': {
      const condition = step.condition?.(p)
      return {
        Put: {
          ...base,
          Item: { ...step.item, ...step.key },
          ...(condition && { ConditionExpression: condition }),
          ...p.maps(),
        },
      }
    }
    case 'update': {
      const expression = updateExpression(step.changes, p)
      const condition = step.condition?.(p)
      return {
        Update: {
          ...base,
          Key: step.key,
          UpdateExpression: expression,
          ...(condition && { ConditionExpression: condition }),
          ...p.maps(),
        },
      }
    }
    case 'delete':
      return { Delete: { ...base, Key: step.key, ConditionExpression: step.condition(p), ...p.maps() } }
    case 'check':
      return { ConditionCheck: { ...base, Key: step.key, ConditionExpression: step.condition(p), ...p.maps() } }
  }
}
