import {
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { assertInvariant } from '../../errors.ts'
import { fromItem, type Item } from '../../table/attributes.ts'
import type { Condition } from '../../table/condition.ts'
import type { Key } from '../../table/keys.ts'
import type { Step } from '../../table/step.ts'
import type { QueryInput, QueryPage, Reads, Table, WriteOutcome } from '../../table/table.ts'
import {
  conditionExpression,
  keyExpression,
  type Placeholders,
  placeholders,
  updateExpression,
} from './dynamodb-expressions.ts'
import { retryingTable, type SomeFields, type StepsOutcome, type TableRequests } from './retrying-table.ts'

type DynamoDbTable = { readonly client: DynamoDBDocumentClient; readonly name: string }

/** The table port on DynamoDB. The SDK repeats what it can tell was not done; what met other writers is repeated here. */
export const dynamoDbTable = (table: DynamoDbTable, means: Parameters<typeof retryingTable>[1]): Table =>
  retryingTable(dynamoDbRequests(table), means)

/** Single requests to DynamoDB, in its language. */
export const dynamoDbRequests = (table: DynamoDbTable): TableRequests => ({
  get: (key, some) => getItem(table, key, some),
  batchGet: (keys, reads) => batchGet(table, keys, reads),
  query: (input) => query(table, input),
  write: (step) => write(table, step),
  transact: (steps) => transactWrite(table, steps),
  isContention,
})

const getItem = async ({ client, name }: DynamoDbTable, key: Key, some: SomeFields | undefined) => {
  const p = placeholders()
  const projection = some && { ProjectionExpression: some.fields.map((field) => p.name(field)).join(', '), ...p.maps() }
  const { Item: item } = await client.send(
    new GetCommand({ TableName: name, Key: key, ConsistentRead: some?.consistent ?? true, ...projection }),
  )
  return item && fromItem(item)
}

const batchGet = async ({ client, name }: DynamoDbTable, keys: readonly Key[], reads: Reads = 'consistent') => {
  const answer = await client.send(
    new BatchGetCommand({
      RequestItems: { [name]: { Keys: keys.map((key) => ({ ...key })), ConsistentRead: reads === 'consistent' } },
    }),
  )
  const unprocessed = answer.UnprocessedKeys?.[name]?.Keys ?? []
  return {
    items: (answer.Responses?.[name] ?? []).map((item) => fromItem(item)),
    unprocessed: unprocessed.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })),
  }
}

const query = async ({ client, name }: DynamoDbTable, input: QueryInput): Promise<QueryPage> => {
  const p = placeholders()
  const answer = await client.send(
    new QueryCommand({
      TableName: name,
      ...(input.index && { IndexName: input.index }),
      KeyConditionExpression: keyExpression(input, p),
      ...p.maps(),
      Limit: input.limit,
      ScanIndexForward: !(input.newestFirst ?? false),
      ConsistentRead: input.index === undefined,
      ...(input.cursor && { ExclusiveStartKey: input.cursor }),
      ...(input.countOnly && { Select: 'COUNT' }),
    }),
  )
  // The cursor goes back to DynamoDB as it came, so its attributes keep the table's spelling.
  return {
    items: (answer.Items ?? []).map((item) => fromItem(item)),
    count: answer.Count ?? 0,
    cursor: answer.LastEvaluatedKey,
  }
}

type RawItem = Parameters<typeof unmarshall>[0]

// The SDK's errors carry raw attribute values even through the document client; they are unmarshalled here, once.
const plainItem = (raw: RawItem | undefined): Item | undefined =>
  raw && Object.keys(raw).length > 0 ? fromItem(unmarshall(raw)) : undefined

const write = async (table: DynamoDbTable, step: Step): Promise<WriteOutcome> => {
  try {
    return { applied: true, item: await writeOne(table, step) }
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { applied: false, item: plainItem(error.Item) }
    throw error
  }
}

const writeOne = async ({ client, name }: DynamoDbTable, step: Step): Promise<Item | undefined> => {
  const { Put, Update, Delete } = toTransactItem(name, step)
  if (Put) return void (await client.send(new PutCommand(Put)))
  if (Delete) return void (await client.send(new DeleteCommand(Delete)))
  assertInvariant(Update !== undefined, 'a condition check stands alone only inside a transaction')
  const { Attributes } = await client.send(new UpdateCommand({ ...Update, ReturnValues: 'ALL_NEW' }))
  return Attributes && fromItem(Attributes)
}

const transactWrite = async ({ client, name }: DynamoDbTable, steps: readonly Step[]): Promise<StepsOutcome> => {
  try {
    // The SDK repeats a lost answer with the same token, so a transaction is applied once.
    await client.send(new TransactWriteCommand({ TransactItems: steps.map((step) => toTransactItem(name, step)) }))
    return { applied: true }
  } catch (error) {
    const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : []
    const refusedAt = reasons.findIndex(({ Code }) => Code === 'ConditionalCheckFailed')
    if (refusedAt === -1) throw error
    return { applied: false, refusedAt, item: plainItem(reasons[refusedAt]?.Item) }
  }
}

/** Reasons that say "try again" and nothing about the condition. */
const RETRYABLE_REASONS = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])

const isRetryable = ({ Code }: CancellationReason) => RETRYABLE_REASONS.has(Code ?? '')

/** What other writers do to one: nothing was written, and another try may succeed. */
export const isContention = (error: unknown): boolean =>
  error instanceof TransactionConflictException ||
  (error instanceof TransactionCanceledException &&
    (error.CancellationReasons ?? []).every((reason) => reason.Code === 'None' || isRetryable(reason)) &&
    (error.CancellationReasons ?? []).some(isRetryable))

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

const guarded = (condition: Condition | undefined, p: Placeholders) =>
  condition ? { ConditionExpression: conditionExpression(condition, p) } : {}

/** The SDK's form of a step. A refusal always brings back the item as it was, which saves the read after it. */
const toTransactItem = (tableName: string, step: Step): TransactItem => {
  const p = placeholders()
  const base = { TableName: tableName, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }
  switch (step.kind) {
    case 'put': {
      const condition = guarded(step.condition, p)
      return { Put: { ...base, Item: { ...step.item, ...step.key }, ...condition, ...p.maps() } }
    }
    case 'update': {
      const expression = updateExpression(step.changes, p)
      const condition = guarded(step.condition, p)
      return { Update: { ...base, Key: step.key, UpdateExpression: expression, ...condition, ...p.maps() } }
    }
    case 'delete': {
      const condition = conditionExpression(step.condition, p)
      return { Delete: { ...base, Key: step.key, ConditionExpression: condition, ...p.maps() } }
    }
    case 'check': {
      const condition = conditionExpression(step.condition, p)
      return { ConditionCheck: { ...base, Key: step.key, ConditionExpression: condition, ...p.maps() } }
    }
  }
}
