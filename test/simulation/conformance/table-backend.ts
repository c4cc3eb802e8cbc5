import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { inject } from 'vitest'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { documentClient } from '../../../shared/runtime/aws/document-client.ts'
import { dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'
import { memoryRequests } from '../sim-table/memory-requests.ts'
import { OutsideModel } from '../sim-table/request-errors.ts'
import { createSimTable } from '../sim-table/sim-table.ts'

/** What a request came to when it threw: the SDK's name of it. */
export type Thrown = { readonly error: string }

/** The model, or the real thing: both sides of the port, below the retries that they share. */
export type TableBackend = { readonly name: string; readonly requests: TableRequests }

export const modelBackend = (): TableBackend => {
  const table = createSimTable({ indexes: 'immediate' })
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
    const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : []
    // A transaction says of some faults in which step they are: an error of ours all the same.
    return { error: reasons.some(({ Code }) => Code === 'ValidationError') ? INVALID : error.name }
  }
}

/** The SDK's name for what DynamoDB finds no valid request. */
export const INVALID = 'ValidationException'
