import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { TABLE_ACTIONS, type TableAccess, type TableAction } from '../../../shared/table/access.ts'
import { pkPrefix } from '../../../shared/table/keys.ts'

/** One thing that IAM would check by itself: an action on the item of a partition, or a query of an index. */
type Touch = { readonly action: string; readonly pk: unknown } | { readonly action: 'Query'; readonly index: string }

/**
 * A client that refuses, as the function's role does on AWS, every item and index that its manifest entry does not
 * state: `refuse` is told what is missing, before anything is sent, and throws.
 */
export const grantedTable = (
  client: DynamoDBDocumentClient,
  granted: TableAccess,
  refuse: (access: string) => never,
): DynamoDBDocumentClient =>
  new Proxy(client, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      if (property !== 'send') return value.bind(target)
      return async (command: object, ...rest: unknown[]) => {
        for (const touch of touchesOf(command)) if (!isGranted(granted, touch)) refuse(describe(touch))
        return value.call(target, command, ...rest)
      }
    },
  })

const isGranted = (granted: TableAccess, touch: Touch): boolean => {
  if ('index' in touch) return (granted.indexes ?? []).some((index) => index === touch.index)
  const { action, pk } = touch
  if (!isAction(action) || typeof pk !== 'string') return false
  return (granted[action] ?? []).some((partition) => pk.startsWith(pkPrefix(partition)))
}

const isAction = (action: string): action is TableAction => TABLE_ACTIONS.some((known) => known === action)

/** The kind of the item without its id, which may be anybody's. */
const describe = (touch: Touch): string =>
  'index' in touch
    ? `dynamodb:Query on index ${touch.index}`
    : `dynamodb:${touch.action} on items ${String(touch.pk).replace(/#.*$/s, '#')}`

const touchesOf = (command: object): readonly Touch[] => {
  if (command instanceof GetCommand) return [{ action: 'GetItem', pk: command.input.Key?.['pk'] }]
  if (command instanceof BatchGetCommand) {
    const keys = Object.values(command.input.RequestItems ?? {}).flatMap(({ Keys }) => Keys ?? [])
    return keys.map(({ pk }) => ({ action: 'BatchGetItem', pk }))
  }
  if (command instanceof QueryCommand) return [queried(command.input)]
  if (command instanceof PutCommand) return [{ action: 'PutItem', pk: command.input.Item?.['pk'] }]
  if (command instanceof UpdateCommand) return [{ action: 'UpdateItem', pk: command.input.Key?.['pk'] }]
  if (command instanceof DeleteCommand) return [{ action: 'DeleteItem', pk: command.input.Key?.['pk'] }]
  if (command instanceof TransactGetCommand) {
    return (command.input.TransactItems ?? []).map(({ Get }) => ({ action: 'GetItem', pk: Get?.Key?.['pk'] }))
  }
  if (command instanceof TransactWriteCommand) return (command.input.TransactItems ?? []).flatMap(partTouches)
  return [{ action: command.constructor.name, pk: undefined }]
}

/** A transaction needs no permission of its own; each of its parts needs that of the single action it is. */
const partTouches = (part: NonNullable<TransactWriteCommand['input']['TransactItems']>[number]): readonly Touch[] => [
  ...(part.Put ? [{ action: 'PutItem', pk: part.Put.Item?.['pk'] }] : []),
  ...(part.Update ? [{ action: 'UpdateItem', pk: part.Update.Key?.['pk'] }] : []),
  ...(part.Delete ? [{ action: 'DeleteItem', pk: part.Delete.Key?.['pk'] }] : []),
  ...(part.ConditionCheck ? [{ action: 'ConditionCheckItem', pk: part.ConditionCheck.Key?.['pk'] }] : []),
]

/** The partition is in the condition's text: `#pk = :v0`, with both placeholders explained beside it. */
const queried = (input: QueryCommand['input']): Touch => {
  if (input.IndexName !== undefined) return { action: 'Query', index: input.IndexName }
  const [, name = '', value = ''] = /^\s*(#\w+)\s*=\s*(:\w+)/.exec(input.KeyConditionExpression ?? '') ?? []
  const isPartition = input.ExpressionAttributeNames?.[name] === 'pk'
  return { action: 'Query', pk: isPartition ? input.ExpressionAttributeValues?.[value] : undefined }
}
