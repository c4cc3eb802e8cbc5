import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  NumberValue,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { assertInvariant } from '../../errors.ts'
import { fromItem, type Item } from '../../table/attributes.ts'
import type { Key } from '../../table/keys.ts'
import type { Step } from '../../table/step.ts'
import type { QueryInput, QueryPage, Reads, Table, WriteOutcome } from '../../table/table.ts'
import { isCountingUnits, noteUnits } from '../../table/used-units.ts'
import { AWS_HTTP_OPTIONS, withoutLog } from './client-options.ts'
import {
  conditionExpression,
  keyExpression,
  placeholders,
  updateExpression,
} from './dynamodb-expressions.ts'
import {
  retryingTable,
  type SomeFields,
  type StepsOutcome,
  type TableRequests,
  withJoinedReads,
} from './retrying-table.ts'

type DynamoDbTable = { readonly client: DynamoDBClient; readonly name: string }
type Wait = (ms: number) => Promise<unknown>
type DocumentTable = { readonly client: DynamoDBDocumentClient; readonly name: string }

/** The SDK retries failed calls; `retryingTable` retries write conflicts. */
export function dynamoDbTable(
  table: DynamoDbTable,
  means: Parameters<typeof retryingTable>[1],
): Table {
  return retryingTable(withJoinedReads(dynamoDbRequests(table, means.sleep)), means)
}

export function dynamoDbRequests(
  { client, name }: DynamoDbTable,
  wait: Wait = sleep,
): TableRequests {
  const table = { client: DynamoDBDocumentClient.from(client, TRANSLATION), name }
  return {
    get: (key, some) => getItem(table, key, some),
    batchGet: (keys, reads, fields) => batchGet(table, keys, reads, fields),
    query: (input) => query(table, input),
    write: (step) => write(table, step),
    transact: (steps) => transactWrite(table, steps, wait),
    isContention,
  }
}

/** Undefined values are left out, in nested values too. */
const TRANSLATION = {
  marshallOptions: { removeUndefinedValues: true },
  unmarshallOptions: { wrapNumbers: numberFrom },
}

/**
 * The SDK reads an unsafe number as a bigint, which stops an audit: JSON has none. Its own class is
 * written back as the same number, so conditions on what was read hold.
 */
function numberFrom(digits: string) {
  const number = Number(digits)
  return Math.abs(number) > Number.MAX_SAFE_INTEGER ? NumberValue.from(digits) : number
}

async function getItem({ client, name }: DocumentTable, key: Key, some: SomeFields | undefined) {
  const { Item: item } = await client.send(
    new GetCommand({
      TableName: name,
      Key: keyOf(key),
      ConsistentRead: some?.consistent ?? true,
      ...projectionOf(some?.fields),
    }),
  )
  return item && fromItem(item)
}

function projectionOf(fields: readonly string[] | undefined, p = placeholders()) {
  const names = fields?.map((field) => p.name(field))
  return names && { ProjectionExpression: names.join(', '), ...p.maps() }
}

function keyOf({ pk, sk }: Key) {
  return { pk, sk }
}

async function batchGet(
  { client, name }: DocumentTable,
  keys: readonly Key[],
  reads: Reads = 'consistent',
  fields?: readonly string[],
) {
  const Keys = keys.map(keyOf)
  const asked = { Keys, ConsistentRead: reads === 'consistent', ...projectionOf(fields) }
  const answer = await client.send(new BatchGetCommand({ RequestItems: { [name]: asked } }))
  const unprocessed = answer.UnprocessedKeys?.[name]?.Keys ?? []
  return {
    items: (answer.Responses?.[name] ?? []).map(fromItem),
    unprocessed: unprocessed.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })),
  }
}

async function query({ client, name }: DocumentTable, input: QueryInput): Promise<QueryPage> {
  const p = placeholders()
  const answer = await client.send(
    new QueryCommand({
      TableName: name,
      ...(input.index && { IndexName: input.index }),
      KeyConditionExpression: keyExpression(input, p),
      ...(input.fields && { ...projectionOf(input.fields, p), Select: 'SPECIFIC_ATTRIBUTES' }),
      ...p.maps(),
      Limit: input.limit,
      ScanIndexForward: !(input.newestFirst ?? false),
      ConsistentRead: input.index === undefined && input.reads !== 'eventual',
      ...(input.cursor && { ExclusiveStartKey: input.cursor }),
      ...(input.countOnly && { Select: 'COUNT' }),
    }),
  )
  // The cursor returns to DynamoDB, so its attributes keep the table's names.
  return {
    items: (answer.Items ?? []).map(fromItem),
    count: answer.Count ?? 0,
    cursor: answer.LastEvaluatedKey,
  }
}

async function write(table: DocumentTable, step: Step): Promise<WriteOutcome> {
  try {
    return { applied: true, item: await sendWrite(table, step) }
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException)
      return { applied: false, item: refusedItem(error.Item) }
    throw error
  }
}

async function sendWrite({ client, name }: DocumentTable, step: Step): Promise<Item | undefined> {
  const { Put, Update, Delete } = toTransactItem(name, step)
  if (Put) return void (await client.send(new PutCommand(Put)))
  if (Delete) return void (await client.send(new DeleteCommand(Delete)))
  assertInvariant(Update !== undefined, 'a condition check is allowed only inside a transaction')
  const ReturnValues = returnsNothing(step) ? 'NONE' : 'ALL_NEW'
  const { Attributes } = await client.send(new UpdateCommand({ ...Update, ReturnValues }))
  return Attributes && fromItem(Attributes)
}

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** A refusal returns the present item, which saves a read. */
function toTransactItem(TableName: string, step: Step): TransactItem {
  const p = placeholders()
  const UpdateExpression = step.kind === 'update' ? updateExpression(step.changes, p) : undefined
  const ConditionExpression = step.condition && conditionExpression(step.condition, p)
  const ReturnValuesOnConditionCheckFailure = returnsNothing(step) ? 'NONE' : 'ALL_OLD'
  const base = {
    TableName,
    ConditionExpression,
    ReturnValuesOnConditionCheckFailure,
    ...p.maps(),
  } as const
  const Key = keyOf(step.key)
  switch (step.kind) {
    case 'put':
      return { Put: { ...base, Item: { ...step.item, ...step.key } } }
    case 'update':
      return { Update: { ...base, Key, UpdateExpression } }
    case 'delete':
      return { Delete: { ...base, Key } }
    case 'check':
      return { ConditionCheck: { ...base, Key } }
  }
}

/** A caller that may not read the item gets no item, after a success or a refusal. */
function returnsNothing(step: Step) {
  return 'returnsNothing' in step
}

/**
 * The document client leaves the items of errors raw. The SDK gives an empty item if no item
 * exists.
 */
function refusedItem(raw: Record<string, AttributeValue> | undefined): Item | undefined {
  return raw && Object.keys(raw).length > 0
    ? fromItem(unmarshall(raw, { wrapNumbers: numberFrom }))
    : undefined
}

async function transactWrite(
  { client, name }: DocumentTable,
  steps: readonly Step[],
  wait: Wait,
): Promise<StepsOutcome> {
  try {
    await sendTransaction(
      client,
      steps.map((step) => toTransactItem(name, step)),
      wait,
    )
    return { applied: true }
  } catch (error) {
    const reasons = reasonsOf(error)
    const refusedAt = reasons.findIndex(({ Code }) => Code === 'ConditionalCheckFailed')
    if (refusedAt === -1) throw error
    return { applied: false, refusedAt, item: refusedItem(reasons[refusedAt]?.Item) }
  }
}

/** DynamoDB ends a transaction within some five seconds. */
const IN_PROGRESS_TRIES = 7
const IN_PROGRESS_WAIT_MS = 1_000

/**
 * Every try has the same idempotency token, so a transaction is applied once. A try whose answer
 * was late may still run: DynamoDB then refuses the next try, and its outcome is waited for.
 */
async function sendTransaction(
  client: DynamoDBDocumentClient,
  TransactItems: TransactItem[],
  wait: Wait,
) {
  const ClientRequestToken = randomUUID()
  for (let tries = 1; ; tries++) {
    try {
      await client.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }))
      return
    } catch (error) {
      const isRunning = error instanceof TransactionInProgressException
      if (!isRunning || tries === IN_PROGRESS_TRIES) throw error
      await wait(IN_PROGRESS_WAIT_MS)
    }
  }
}

export function isContention(error: unknown) {
  if (error instanceof TransactionConflictException) return true
  const reasons = reasonsOf(error).filter(({ Code }) => Code !== 'None')
  return reasons.length > 0 && reasons.every(({ Code = '' }) => RETRYABLE_REASONS.includes(Code))
}

const RETRYABLE_REASONS = [
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]

function reasonsOf(error: unknown) {
  return error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : []
}

/** Four tries by default. Counts the units of a request's calls if the request does. */
export function dynamoDbClient(config: DynamoDBClientConfig = {}) {
  const client = withoutLog(
    new DynamoDBClient({ maxAttempts: 4, requestHandler: AWS_HTTP_OPTIONS, ...config }),
  )
  client.middlewareStack.add((next) => async (args) => {
    if (!isCountingUnits()) return next(args)
    const result = await next({
      ...args,
      input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' },
    })
    const { ConsumedCapacity: consumed } = { ConsumedCapacity: undefined, ...result.output }
    for (const capacity of [consumed ?? []].flat())
      if ('CapacityUnits' in capacity) noteUnits(capacity.CapacityUnits ?? 0)
    return result
  })
  return client
}
