import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import { fromItem, type Item } from './attributes.ts'
import { placeholders } from './condition.ts'
import type { Key } from './keys.ts'
import { type IndexName, TABLE_SCHEMA } from './schema.ts'

export type ReadDeps = Pick<Deps, 'table' | 'sleep' | 'random'>

/** Reads one item, strongly consistent: reads that decide are never stale. */
export const getItem = async (deps: ReadDeps, key: Key): Promise<Item | undefined> => {
  const { Item: item } = await deps.table.client.send(
    new GetCommand({ TableName: deps.table.name, Key: key, ConsistentRead: true }),
  )
  return item && fromItem(item)
}

const BATCH_LIMIT = 100
const BATCH_TRIES = 8
const BATCH_BASE_MS = 25

const identity = ({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }) => `${String(pk)}\n${String(sk)}`

/**
 * Reads up to 100 items, strongly consistent, in the order of `keys`; a missing one is undefined in its place. Keys
 * that DynamoDB leaves unprocessed are asked for again, with jitter, a bounded number of times; then it throws.
 */
export const getItems = async (deps: ReadDeps, keys: readonly Key[]): Promise<readonly (Item | undefined)[]> => {
  const found = new Map<string, Item>()
  // DynamoDB refuses a batch that names a key twice.
  let pending: readonly Key[] = [...new Map(keys.map((key) => [identity(key), key])).values()]
  assertInvariant(pending.length <= BATCH_LIMIT, 'a batch read takes at most 100 keys')
  for (let tried = 0; pending.length > 0; tried++) {
    if (tried === BATCH_TRIES) throw new Error('a batch read stayed incomplete')
    if (tried > 0) await deps.sleep(Math.ceil(deps.random() * BATCH_BASE_MS * 2 ** tried))
    const answer = await deps.table.client.send(
      new BatchGetCommand({
        RequestItems: { [deps.table.name]: { Keys: pending.map((key) => ({ ...key })), ConsistentRead: true } },
      }),
    )
    for (const item of answer.Responses?.[deps.table.name] ?? []) found.set(identity(item), fromItem(item))
    const unprocessed = new Set((answer.UnprocessedKeys?.[deps.table.name]?.Keys ?? []).map(identity))
    pending = pending.filter((key) => unprocessed.has(identity(key)))
  }
  return keys.map((key) => found.get(identity(key)))
}

/** Any number of items by their keys, strongly consistent, in the order of the keys: batches side by side. */
export const getManyItems = async (deps: ReadDeps, keys: readonly Key[]): Promise<readonly (Item | undefined)[]> => {
  const batches = Array.from({ length: Math.ceil(keys.length / BATCH_LIMIT) }, (_, at) =>
    keys.slice(at * BATCH_LIMIT, (at + 1) * BATCH_LIMIT),
  )
  return (await Promise.all(batches.map((some) => getItems(deps, some)))).flat()
}

export type Range =
  | { readonly atMost: unknown }
  | { readonly between: readonly [unknown, unknown] }
  | { readonly beginsWith: string }

export type QueryInput = {
  readonly index?: IndexName
  /** Values of the partition attributes, in the schema's order. */
  readonly partition: readonly unknown[]
  /** A range over the first sort attribute. */
  readonly range?: Range
  readonly limit: number
  readonly newestFirst?: boolean
  readonly cursor?: Item
  /** Passes over the items without bringing them here: only their number and the cursor are answered. */
  readonly countOnly?: boolean
}

export type QueryPage = {
  readonly items: readonly Item[]
  readonly count: number
  readonly cursor: Item | undefined
}

/** The key of the table itself, spelled as an index's is. */
const PRIMARY = { partition: [TABLE_SCHEMA.partitionKey], sort: [TABLE_SCHEMA.sortKey] }

/**
 * Reads one page of a key range. The table itself is read consistently; an index only suggests, and its newest entries
 * may be missing. `cursor` continues behind the last page and is undefined at the end.
 */
export const queryPage = async (deps: Pick<Deps, 'table'>, input: QueryInput): Promise<QueryPage> => {
  const { partition, sort } = input.index ? TABLE_SCHEMA.indexes[input.index] : PRIMARY
  const p = placeholders()
  const terms = partition.map((attribute, at) => `${p.name(attribute)} = ${p.value(input.partition[at])}`)
  if (input.range) {
    const name = p.name(sort[0] ?? '')
    if ('atMost' in input.range) terms.push(`${name} <= ${p.value(input.range.atMost)}`)
    else if ('beginsWith' in input.range) terms.push(`begins_with(${name}, ${p.value(input.range.beginsWith)})`)
    else terms.push(`${name} BETWEEN ${p.value(input.range.between[0])} AND ${p.value(input.range.between[1])}`)
  }
  const answer = await deps.table.client.send(
    new QueryCommand({
      TableName: deps.table.name,
      ...(input.index && { IndexName: input.index }),
      KeyConditionExpression: terms.join(' AND '),
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
