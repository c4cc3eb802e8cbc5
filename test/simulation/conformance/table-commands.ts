import { randomUUID } from 'node:crypto'
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { Condition } from '../../../shared/table/condition.ts'
import { type Changes, put, remove, type Step, toTransactItem, update } from '../../../shared/table/step.ts'
import { type Command, type Outcome, run, type TableBackend } from './table-backend.ts'

export type Key = { readonly pk: string; readonly sk: string }

/** A key that no other test has. */
export const aKey = (): Key => ({ pk: `conformance-${randomUUID()}`, sk: 'ITEM' })

type Item = Readonly<Record<string, unknown>>

/** Commands to one table, with the expressions that the gateway's stores write. */
export type TableCommands = {
  readonly backend: TableBackend
  readonly send: (command: Command) => Promise<Outcome>
  readonly put: (key: Key, item: Item, condition?: Condition) => Promise<Outcome>
  readonly update: (key: Key, changes: Changes, condition?: Condition) => Promise<Outcome>
  readonly remove: (key: Key, condition: Condition) => Promise<Outcome>
  readonly putStep: (step: Step) => Promise<Outcome>
  readonly updateStep: (step: Step) => Promise<Outcome>
  readonly removeStep: (step: Step) => Promise<Outcome>
  readonly transact: (steps: readonly Step[], token?: string) => Promise<Outcome>
  /** The item as it is, or undefined. */
  readonly get: (key: Key) => Promise<unknown>
  readonly batchGet: (keys: readonly object[]) => Promise<Outcome>
  readonly query: (input: Omit<QueryCommandInput, 'TableName'>) => Promise<Outcome>
}

export const tableCommands = (backend: TableBackend): TableCommands => {
  const { tableName } = backend
  const send = (command: Command) => run(backend, command)
  const part = (step: Step) => toTransactItem(tableName, step)
  const putStep = (step: Step) => send(new PutCommand(given(part(step).Put)))
  const updateStep = (step: Step) => send(new UpdateCommand({ ...given(part(step).Update), ReturnValues: 'ALL_NEW' }))
  const removeStep = (step: Step) => send(new DeleteCommand(given(part(step).Delete)))
  return {
    backend,
    send,
    putStep,
    updateStep,
    removeStep,
    put: (key, item, condition) => putStep(put(key, item, condition)),
    update: (key, changes, condition) => updateStep(update(key, changes, condition)),
    remove: (key, condition) => removeStep(remove(key, condition)),
    transact: (steps, token) =>
      send(
        new TransactWriteCommand({
          TransactItems: steps.map(part),
          ...(token !== undefined && { ClientRequestToken: token }),
        }),
      ),
    get: async (key) => {
      const outcome = await send(new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true }))
      return 'output' in outcome ? outcome.output['Item'] : outcome
    },
    batchGet: (keys) =>
      send(
        new BatchGetCommand({
          RequestItems: { [tableName]: { Keys: keys.map((key) => ({ ...key })), ConsistentRead: true } },
        }),
      ),
    query: (input) => send(new QueryCommand({ TableName: tableName, ...input })),
  }
}

const given = <Input>(input: Input | undefined): Input => {
  if (input === undefined) throw new Error('a step of another kind')
  return input
}
