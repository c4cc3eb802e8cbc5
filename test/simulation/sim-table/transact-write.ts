import type { CancellationReason } from '@aws-sdk/client-dynamodb'
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import type { ItemRules } from './item-rules.ts'
import { OutsideModel } from './outside-model.ts'
import { type PlannedWrite, planCheck, planDelete, planPut, planUpdate } from './planned-write.ts'
import { keyText } from './table-change.ts'
import {
  conditionFailedReason,
  isItemInvalid,
  isValidationError,
  noSuchTable,
  transactionCancelled,
  validationError,
} from './table-errors.ts'
import type { TableItems } from './table-items.ts'

type Transacted = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

const MAX_ITEMS = 100
const MAX_BYTES = 4 * 1_024 * 1_024

type Table = { readonly name: string; readonly rules: ItemRules; readonly items: TableItems }

/** Reads all steps; throws when the request is invalid whatever is in the table. */
export const readTransaction = (table: Table, input: TransactWriteCommandInput): readonly Step[] => {
  const asked = input.TransactItems ?? []
  if (asked.length === 0 || asked.length > MAX_ITEMS) throw validationError('A transaction takes 1 to 100 items')
  const steps = asked.map((step) => readStep(table, step))
  const writes = steps.flatMap(({ write }) => write ?? [])
  if (new Set(writes.map(({ key }) => keyText(key))).size < writes.length) {
    throw validationError('Transaction request cannot include multiple operations on one item')
  }
  if (writes.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_BYTES) {
    throw validationError('Transaction payload size cannot exceed 4MB')
  }
  return steps
}

/** Decides all steps on the table as it is and answers what to store; throws when any step is refused. */
export const decideTransaction = ({ items }: Table, steps: readonly Step[]): readonly Planned[] => {
  const decided = steps.map((step) => decide(step, items))
  if (decided.some(({ reason }) => reason !== undefined)) {
    throw transactionCancelled(decided.map(({ reason }) => reason ?? { Code: 'None' }))
  }
  return decided.flatMap(({ planned }) => planned ?? [])
}

export type Planned = { readonly write: PlannedWrite } & ReturnType<PlannedWrite['result']>

/** A step that can be decided, or what is wrong with it whatever is in the table. */
export type Step = { readonly write?: PlannedWrite; readonly invalid?: CancellationReason }

const validationReason = ({ message }: Error): CancellationReason => ({ Code: 'ValidationError', Message: message })

const readStep = ({ name, rules }: Table, step: Transacted): Step => {
  const parts = [step.Put, step.Update, step.Delete, step.ConditionCheck].filter((part) => part !== undefined)
  if (parts.length !== 1) throw validationError('A transaction step is one of Put, Update, Delete, ConditionCheck')
  if (parts[0]?.TableName !== name) throw noSuchTable()
  try {
    if (step.Put) return { write: planPut(rules, step.Put) }
    if (step.Update) return { write: planUpdate(rules, step.Update) }
    if (step.Delete) return { write: planDelete(rules, step.Delete) }
    if (step.ConditionCheck) return { write: planCheck(rules, step.ConditionCheck) }
  } catch (error) {
    if (isItemInvalid(error)) return { invalid: validationReason(error) }
    throw error
  }
  throw new OutsideModel('a transaction step of a kind that is not modelled')
}

type Decided = { readonly planned?: Planned; readonly reason?: CancellationReason }

const decide = ({ write, invalid }: Step, items: TableItems): Decided => {
  if (!write) return invalid ? { reason: invalid } : {}
  const was = items.get(write.key)?.item
  if (!write.holds(was)) return { reason: conditionFailedReason(write.tellsItem ? was : undefined) }
  try {
    return { planned: { write, ...write.result(was) } }
  } catch (error) {
    // DynamoDB Local refuses some of these as a whole request; these reasons are the ones that AWS documents.
    if (isValidationError(error)) return { reason: validationReason(error) }
    throw error
  }
}
