import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import type {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { inject } from 'vitest'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { documentClient } from '../../../shared/runtime/aws-table.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { OutsideModel } from '../sim-table/outside-model.ts'
import { createSimTable } from '../sim-table/sim-table.ts'

type Item = Record<string, unknown>

/** What a command came to: what it answered, or what the SDK threw, with raw items read back for comparing. */
export type Outcome =
  | { readonly output: Item }
  | { readonly error: string; readonly item?: Item; readonly reasons?: readonly Reason[] }

export type Reason = { readonly code: string; readonly item?: Item }

/** The commands that the gateway sends. */
export type Command =
  | BatchGetCommand
  | DeleteCommand
  | GetCommand
  | PutCommand
  | QueryCommand
  | TransactWriteCommand
  | UpdateCommand

/** The model, or the real thing. */
export type TableBackend = {
  readonly name: string
  readonly tableName: string
  readonly send: (command: Command) => Promise<object>
}

export const modelBackend = (): TableBackend => {
  const tableName = inject('tableName')
  const table = createSimTable({ schema: TABLE_SCHEMA, tableName, indexes: 'immediate' })
  return { name: 'the model', tableName, send: async (command) => table.execute(command) }
}

export const localBackend = (tableName: string = inject('tableName')): TableBackend => {
  const client = documentClient({
    ...localAws(inject('dynamodbEndpoint')),
    // A retry would hide what a command came to.
    maxAttempts: 1,
  })
  return { name: 'DynamoDB Local', tableName, send: (command) => client.send(command as GetCommand) }
}

type Raw = Parameters<typeof unmarshall>[0]

const plain = (raw: Raw | undefined) => (raw && Object.keys(raw).length > 0 ? { item: unmarshall(raw) } : {})

export const run = async ({ send }: TableBackend, command: Command): Promise<Outcome> => {
  try {
    const answer = await send(command)
    // Capacity and transport are no behaviour of the table.
    const output = Object.entries(answer).filter(([name]) => name !== '$metadata' && name !== 'ConsumedCapacity')
    return { output: Object.fromEntries(output) }
  } catch (error) {
    return thrown(error)
  }
}

const thrown = (error: unknown): Outcome => {
  // What the model does not know is no answer, right or wrong.
  if (!(error instanceof Error) || error instanceof OutsideModel) throw error
  if (error instanceof ConditionalCheckFailedException) return { error: error.name, ...plain(error.Item) }
  if (!(error instanceof TransactionCanceledException)) return { error: error.name }
  return {
    error: error.name,
    reasons: (error.CancellationReasons ?? []).map(({ Code, Item }) => ({ code: Code ?? '', ...plain(Item) })),
  }
}

/** What refused it, in one word each: the SDK's names. */
export const REFUSED = 'ConditionalCheckFailedException'
export const CANCELLED = 'TransactionCanceledException'
export const INVALID = 'ValidationException'
