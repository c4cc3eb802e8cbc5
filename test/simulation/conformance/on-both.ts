import { randomUUID } from 'node:crypto'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { expect } from 'vitest'
import { localAws } from '../../../infra/local/emulators/local-aws.ts'
import { memoryRequests } from '../../../infra/local/emulators/memory-table/memory-requests.ts'
import { createMemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import { OutsideModel } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { dynamoDbClient, dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'
import type { Item } from '../../../shared/table/attributes.ts'
import type { Key } from '../../../shared/table/keys.ts'
import type { Step } from '../../../shared/table/step.ts'
import type { QueryInput } from '../../../shared/table/table.ts'
import { dynamoDb } from '../../support/dynamodb.ts'
import { PATIENCE_MS } from '../../support/patience.ts'

/** Plain data, so that a failure can print it. A step alone is a single write. */
export type Asked =
  | Step
  | { readonly kind: 'get'; readonly key: Key }
  | { readonly kind: 'batch'; readonly keys: readonly Key[]; readonly fields?: readonly string[] }
  | { readonly kind: 'transact'; readonly steps: readonly Step[] }
  | { readonly kind: 'query'; readonly query: QueryInput }

export type Answer =
  | {
      readonly error?: string
      readonly applied?: boolean
      readonly items?: readonly Item[]
      readonly count?: number
      readonly cursor?: Item
    }
  | undefined

export async function onBoth(sequence: readonly Asked[]) {
  const { model, local } = bothTables()
  const answers: Answer[] = []
  for (const asked of sequence) {
    const answer = await ask(local, asked)
    expect({ asked, answer: await ask(model, asked) }).toStrictEqual({ asked, answer })
    answers.push(answer)
  }
  return answers
}

let opened: { readonly model: TableRequests; readonly local: TableRequests } | undefined

/** Both sides of the port, below the retries that they share. */
export function bothTables() {
  if (opened) return opened
  const { endpoint, tableName: name } = dynamoDb()
  const requestHandler = { requestTimeout: PATIENCE_MS, connectionTimeout: PATIENCE_MS }
  // A retry would hide the result of a request. A busy machine may answer late.
  const client = dynamoDbClient({ ...localAws(endpoint), maxAttempts: 1, requestHandler })
  const model = memoryRequests(createMemoryTable({ indexes: 'immediate' }))
  opened = { model, local: dynamoDbRequests({ client, name }) }
  return opened
}

export async function ask(table: TableRequests, asked: Asked) {
  try {
    const answer = (await send(table, asked)) as Answer
    if (asked.kind !== 'batch' || !answer?.items) return answer
    // A batch read has no order.
    const keyOf = ({ pk, sk }: Item) => `${String(pk)} ${String(sk)}`
    return { ...answer, items: answer.items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) }
  } catch (error) {
    return { error: errorOf(error) }
  }
}

function send(table: TableRequests, asked: Asked) {
  switch (asked.kind) {
    case 'get':
      return table.get(asked.key)
    case 'batch':
      return table.batchGet(asked.keys, 'consistent', asked.fields)
    case 'transact':
      return table.transact(asked.steps)
    case 'query':
      return table.query(asked.query)
    case 'put':
    case 'update':
    case 'delete':
    case 'check':
      return table.write(asked)
  }
}

const INVALID = 'ValidationException'

function errorOf(error: unknown) {
  // A request outside the model has no answer to compare.
  if (!(error instanceof Error) || error instanceof OutsideModel) throw error
  const reasons =
    error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : []
  // For some invalid requests a transaction names the invalid step. Such requests are invalid too.
  return reasons.some(({ Code }) => Code === 'ValidationError') ? INVALID : error.name
}

export function get(key: Key): Asked {
  return { kind: 'get', key }
}

export function batch(...keys: readonly Key[]): Asked {
  return { kind: 'batch', keys }
}

export function query(asked: QueryInput): Asked {
  return { kind: 'query', query: asked }
}

export function transact(...steps: readonly Step[]): Asked {
  return { kind: 'transact', steps }
}

export function aKey(): Key {
  return { pk: `conformance-${randomUUID()}`, sk: 'ITEM' }
}

export async function queryOnBoth(input: QueryInput) {
  const answers = [...(await onBoth([query(input)]))]
  for (let cursor = answers[0]?.cursor; cursor; cursor = answers.at(-1)?.cursor) {
    answers.push(...(await onBoth([query({ ...input, cursor })])))
  }
  return answers
}

/** The word shows that a case tests what its name says. */
export function inAWord(answer: Answer): string {
  if (answer === undefined) return 'nothing'
  if (answer.error !== undefined) return answer.error === INVALID ? 'invalid' : 'not sent'
  if (answer.applied === undefined) return answer.cursor ? 'more' : 'found'
  return answer.applied ? 'applied' : 'refused'
}

export function tallyOf(answers: readonly Answer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const word of answers.map(inAWord)) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

/** DynamoDB Local answers faster if it gets several sequences at the same time. */
export async function tallyOnBoth(sequences: readonly (readonly Asked[])[]) {
  const waiting = [...sequences]
  const answers: Answer[] = []
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      answers.push(...(await onBoth(next)))
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return tallyOf(answers)
}
