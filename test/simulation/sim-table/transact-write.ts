import type { CancellationReason } from '@aws-sdk/client-dynamodb'
import type { Step } from '../../../shared/table/step.ts'
import type { StoredItem } from './attribute-value.ts'
import type { ItemRules } from './item-rules.ts'
import { type PlannedWrite, planWrite } from './planned-write.ts'
import { keyText } from './table-change.ts'
import { isItemInvalid, isValidationError, transactionCancelled, validationError } from './table-errors.ts'
import type { TableItems } from './table-items.ts'

const MAX_ITEMS = 100
const MAX_BYTES = 4 * 1_024 * 1_024

type Table = { readonly rules: ItemRules; readonly items: TableItems }

/** Reads all steps; throws when the request is invalid whatever is in the table. */
const readTransaction = (rules: ItemRules, asked: readonly Step[]): readonly ReadStep[] => {
  if (asked.length === 0 || asked.length > MAX_ITEMS) throw validationError('A transaction takes 1 to 100 items')
  const steps = asked.map((step) => readStep(rules, step))
  const writes = steps.flatMap(({ write }) => write ?? [])
  if (new Set(writes.map(({ key }) => keyText(key))).size < writes.length) {
    throw validationError('Transaction request cannot include multiple operations on one item')
  }
  if (writes.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_BYTES) {
    throw validationError('Transaction payload size cannot exceed 4MB')
  }
  return steps
}

export type Planned = { readonly write: PlannedWrite } & ReturnType<PlannedWrite['result']>

export type Decision =
  | { readonly applied: true; readonly planned: readonly Planned[] }
  | { readonly applied: false; readonly refusedAt: number; readonly was: StoredItem | undefined }

/**
 * Decides all steps on the table as it is: what to store, or which step's condition is the first that fails. Throws when
 * nothing is refused and some step is invalid all the same.
 */
export const decideTransaction = ({ rules, items }: Table, asked: readonly Step[]): Decision => {
  const decided = readTransaction(rules, asked).map((step) => decide(step, items))
  const refusedAt = decided.findIndex(({ refused }) => refused !== undefined)
  if (refusedAt !== -1) return { applied: false, refusedAt, was: decided[refusedAt]?.refused?.was }
  if (decided.some(({ invalid }) => invalid !== undefined)) {
    throw transactionCancelled(decided.map(({ invalid }) => invalid ?? { Code: 'None' }))
  }
  return { applied: true, planned: decided.flatMap(({ planned }) => planned ?? []) }
}

/** A step that can be decided, or what is wrong with it whatever is in the table. */
type ReadStep = { readonly write?: PlannedWrite; readonly invalid?: CancellationReason }

const validationReason = ({ message }: Error): CancellationReason => ({ Code: 'ValidationError', Message: message })

const readStep = (rules: ItemRules, step: Step): ReadStep => {
  try {
    return { write: planWrite(rules, step) }
  } catch (error) {
    if (isItemInvalid(error)) return { invalid: validationReason(error) }
    throw error
  }
}

type Decided = {
  readonly planned?: Planned
  readonly invalid?: CancellationReason
  readonly refused?: { readonly was: StoredItem | undefined }
}

const decide = ({ write, invalid }: ReadStep, items: TableItems): Decided => {
  if (!write) return invalid ? { invalid } : {}
  const was = items.get(write.key)?.item
  if (!write.holds(was)) return { refused: { was } }
  try {
    return { planned: { write, ...write.result(was) } }
  } catch (error) {
    // DynamoDB Local refuses some of these as a whole request; these reasons are the ones that AWS documents.
    if (isValidationError(error)) return { invalid: validationReason(error) }
    throw error
  }
}
