import {
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../time.ts'
import { fromItem, type Item } from './attributes.ts'
import { type Step, toTransactItem } from './step.ts'

export type WriteDeps = Pick<Deps, 'table' | 'sleep' | 'random' | 'log'>

/** A refused condition is an outcome, not an exception: the item as it was tells the caller why. */
export type WriteOutcome =
  | { readonly applied: true; readonly item: Item | undefined }
  | { readonly applied: false; readonly item: Item | undefined }

export type TransactOutcome<Name extends string> =
  | { readonly applied: true }
  | { readonly applied: false; readonly refusedBy: Name; readonly item: Item | undefined }

type RawItem = Parameters<typeof unmarshall>[0]

// The SDK's errors carry raw attribute values even through the document client; they are unmarshalled here, once.
const plainItem = (raw: RawItem | undefined): Item | undefined =>
  raw && Object.keys(raw).length > 0 ? fromItem(unmarshall(raw)) : undefined

const CONFLICT_TRIES = 12
const CONFLICT_BASE_MS = 20
const CONFLICT_CAP_MS = 400

/** Reasons that say "try again" and nothing about the condition. */
const RETRYABLE_REASONS = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])

const isContention = (error: unknown): boolean =>
  error instanceof TransactionConflictException ||
  (error instanceof TransactionCanceledException &&
    (error.CancellationReasons ?? []).every(({ Code }) => Code === 'None' || RETRYABLE_REASONS.has(Code ?? '')) &&
    (error.CancellationReasons ?? []).some(({ Code }) => RETRYABLE_REASONS.has(Code ?? '')))

/** One line for a write that others were in the way of: how often it was tried again, and whether it gave up. */
const noteContention = ({ log }: WriteDeps, retries: number, gaveUp: boolean): void => {
  if (gaveUp) log.warn('write.contended', { retries, gave_up: 1 })
  else if (retries > 0) log.info('write.contended', { retries, gave_up: 0 })
}

class StaleSteps extends Error {}

/** Repeats a write that met another transaction on the same item. The SDK does not, and nothing was written then. */
const retryingContention = async <Result>(
  deps: WriteDeps,
  attempt: () => Promise<Result>,
  isStale: () => boolean = () => false,
): Promise<Result> => {
  for (let tried = 1; ; tried++) {
    try {
      const result = await attempt()
      noteContention(deps, tried - 1, false)
      return result
    } catch (error) {
      const contended = isContention(error)
      if (!contended || tried >= CONFLICT_TRIES) {
        noteContention(deps, tried - 1, contended)
        throw error
      }
      const ceilingMs = Math.min(CONFLICT_BASE_MS * 2 ** (tried - 1), CONFLICT_CAP_MS)
      // Full jitter: callers that collided once do not collide again in step.
      await deps.sleep(Math.ceil(deps.random() * ceilingMs))
      if (isStale()) throw new StaleSteps('a write was not repeated with the times of long ago', { cause: error })
    }
  }
}

const send = async (deps: WriteDeps, step: Step): Promise<Item | undefined> => {
  const { Put, Update, Delete } = toTransactItem(deps.table.name, step)
  if (Put) return void (await deps.table.client.send(new PutCommand(Put)))
  if (Delete) return void (await deps.table.client.send(new DeleteCommand(Delete)))
  assertInvariant(Update !== undefined, 'a condition check stands alone only inside a transaction')
  const { Attributes } = await deps.table.client.send(new UpdateCommand({ ...Update, ReturnValues: 'ALL_NEW' }))
  return Attributes && fromItem(Attributes)
}

/**
 * Writes one item under its condition. Applied: an update answers the item as it is now. Refused: the item as it was
 * (undefined when there is none). Throws on anything else, after our own retries of conflicts and the SDK's of the rest.
 */
export const conditionalWrite = async (deps: WriteDeps, step: Step): Promise<WriteOutcome> => {
  try {
    return { applied: true, item: await retryingContention(deps, () => send(deps, step)) }
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { applied: false, item: plainItem(error.Item) }
    throw error
  }
}

const refusal = <Name extends string>(names: readonly Name[], reasons: readonly CancellationReason[]) => {
  const at = reasons.findIndex(({ Code }) => Code === 'ConditionalCheckFailed')
  const refusedBy = names[at]
  return refusedBy === undefined
    ? undefined
    : ({ applied: false, refusedBy, item: plainItem(reasons[at]?.Item) } as const)
}

type Steps<Name extends string> = Readonly<Record<Name, Step | undefined>>

const transactUnless = async <Name extends string>(
  deps: WriteDeps,
  steps: Steps<Name>,
  isStale: () => boolean,
): Promise<TransactOutcome<Name>> => {
  const names: Name[] = []
  const items: ReturnType<typeof toTransactItem>[] = []
  for (const name in steps) {
    const step = steps[name]
    if (!step) continue
    names.push(name)
    items.push(toTransactItem(deps.table.name, step))
  }
  try {
    const sendAll = () => deps.table.client.send(new TransactWriteCommand({ TransactItems: items }))
    await retryingContention(deps, sendAll, isStale)
    return { applied: true }
  } catch (error) {
    const refused =
      error instanceof TransactionCanceledException ? refusal(names, error.CancellationReasons ?? []) : undefined
    if (refused) return refused
    throw error
  }
}

/**
 * Writes all steps or none. Steps that are undefined take no part. Refused: which step's condition failed first, and
 * that item as it was. The SDK repeats a lost answer with the same token, so a transaction is applied once.
 */
export const transact = <Name extends string>(deps: WriteDeps, steps: Steps<Name>): Promise<TransactOutcome<Name>> =>
  transactUnless(deps, steps, () => false)

/** How old the times in a transaction's steps may get while it is tried again. */
const FRESH_MS = MINUTE_MS

/**
 * As `transact`, for steps that say when something happened. `stale`: others were in the way until a minute after
 * `madeAt`, as when the environment was frozen meanwhile; nothing was written, and the steps must be made anew.
 */
export const transactWhileFresh = async <Name extends string>(
  deps: WriteDeps & Pick<Deps, 'now'>,
  steps: Steps<Name>,
  madeAt: Timestamp,
): Promise<TransactOutcome<Name> | { readonly applied: 'stale' }> => {
  try {
    return await transactUnless(deps, steps, () => deps.now() > addMs(madeAt, FRESH_MS))
  } catch (error) {
    if (error instanceof StaleSteps) return { applied: 'stale' }
    throw error
  }
}
