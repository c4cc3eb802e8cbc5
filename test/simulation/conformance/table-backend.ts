import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { inject } from 'vitest'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { documentClient } from '../../../shared/runtime/aws/document-client.ts'
import { dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { memoryRequests } from '../sim-table/memory-requests.ts'
import { OutsideModel } from '../sim-table/outside-model.ts'
import { createSimTable } from '../sim-table/sim-table.ts'

/** What a request came to when it threw: the SDK's name of it, and the reasons of a transaction. */
export type Thrown = { readonly error: string; readonly reasons?: readonly string[] }

/** The model, or the real thing: both sides of the port, below the retries that they share. */
export type TableBackend = { readonly name: string; readonly requests: TableRequests }

export const modelBackend = (): TableBackend => {
  const table = createSimTable({ schema: TABLE_SCHEMA, indexes: 'immediate' })
  return { name: 'the model', requests: memoryRequests(table) }
}

export const localBackend = (tableName: string = inject('tableName')): TableBackend => {
  const client = documentClient({
    ...localAws(inject('dynamodbEndpoint')),
    // A retry would hide what a request came to.
    maxAttempts: 1,
  })
  return { name: 'DynamoDB Local', requests: dynamoDbRequests({ client, name: tableName }) }
}

/** What a request answered, or what it threw. */
export const run = async <Answer>(request: () => Promise<Answer>): Promise<Answer | Thrown> => {
  try {
    return await request()
  } catch (error) {
    // What the model does not know is no answer, right or wrong.
    if (!(error instanceof Error) || error instanceof OutsideModel) throw error
    if (!(error instanceof TransactionCanceledException)) return { error: error.name }
    return { error: error.name, reasons: (error.CancellationReasons ?? []).map(({ Code }) => Code ?? '') }
  }
}

/** The SDK's names. */
export const CANCELLED = 'TransactionCanceledException'
export const INVALID = 'ValidationException'
