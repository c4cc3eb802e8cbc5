import {
  type CancellationReason,
  DynamoDBServiceException,
  InternalServerError,
  ThrottlingException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'

const BAD_REQUEST = { $metadata: { httpStatusCode: 400, attempts: 1 } }
const MAX_ATTEMPTS = { $metadata: { httpStatusCode: 400, attempts: 4 } }

/** The SDK has no class for it: it throws its base class under this name. */
export const validationError = (message: string): DynamoDBServiceException =>
  new DynamoDBServiceException({ name: 'ValidationException', $fault: 'client', message, ...BAD_REQUEST })

const perItem = new WeakSet<Error>()

/** A validation error about one item, which a transaction reports among its cancellation reasons. */
export const itemInvalid = (message: string): DynamoDBServiceException => {
  const error = validationError(message)
  perItem.add(error)
  return error
}

export const isItemInvalid = (error: unknown): error is DynamoDBServiceException =>
  error instanceof DynamoDBServiceException && perItem.has(error)

export const isValidationError = (error: unknown): error is DynamoDBServiceException =>
  error instanceof DynamoDBServiceException && error.name === 'ValidationException'

export const transactionCancelled = (reasons: readonly CancellationReason[]): TransactionCanceledException =>
  new TransactionCanceledException({
    message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons
      .map(({ Code }) => Code)
      .join(', ')}]`,
    CancellationReasons: [...reasons],
    ...BAD_REQUEST,
  })

/** What comes out of the SDK when all its tries were throttled. Nothing was written. */
export const throttled = (): ThrottlingException =>
  new ThrottlingException({
    message: 'Throughput exceeds the current capacity of your table or index.',
    throttlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded' }],
    ...MAX_ATTEMPTS,
  })

/** What comes out of the SDK when DynamoDB failed at all its tries. The write may have happened, or not. */
export const internalServerError = (): InternalServerError =>
  new InternalServerError({
    message: 'The request processing has failed because of an unknown error',
    $metadata: { httpStatusCode: 500, attempts: 4 },
  })

export type ReasonCode = 'None' | 'TransactionConflict' | 'ThrottlingError' | 'ProvisionedThroughputExceeded'

const REASON_MESSAGES = {
  None: undefined,
  TransactionConflict: 'Transaction is ongoing for the item',
  ThrottlingError: 'Throughput exceeds the current capacity for one or more global secondary indexes.',
  ProvisionedThroughputExceeded: 'The level of configured provisioned throughput for the table was exceeded.',
} as const satisfies Record<ReasonCode, string | undefined>

/**
 * A transaction that met another one, or a throttle, on some of its items: one code per step, in the steps' order. The
 * SDK does not try again. Nothing was written.
 */
export const transactionConflict = (...codes: readonly ReasonCode[]): TransactionCanceledException =>
  transactionCancelled(
    codes.map((Code) => {
      const Message = REASON_MESSAGES[Code]
      return { Code, ...(Message !== undefined && { Message }) }
    }),
  )

/** A single write that met a transaction on its item. The SDK does not try again. Nothing was written. */
export const conflictOnWrite = (): TransactionConflictException =>
  new TransactionConflictException({ message: REASON_MESSAGES.TransactionConflict, ...BAD_REQUEST })
