import type {
  DeleteCommandInput,
  PutCommandInput,
  TransactWriteCommandInput,
  UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb'
import type { StoredItem } from './attribute-value.ts'
import { type Bound, bind, nameIn } from './bound-placeholders.ts'
import { type CompiledCondition, compileCondition } from './condition-expression.ts'
import { type ItemRules, refuseEmptyNames } from './item-rules.ts'
import { itemSize } from './item-size.ts'
import type { ItemKey } from './table-change.ts'
import { itemInvalid, validationError } from './table-errors.ts'
import { applyUpdate, checkUpdate, compileUpdate } from './update-expression.ts'

/** One write, checked for all that does not depend on the item that is there. */
export type PlannedWrite = {
  readonly key: ItemKey
  readonly holds: (was: StoredItem | undefined) => boolean
  /** Whether a refusal brings back the item. */
  readonly tellsItem: boolean
  /** What it adds to the size of a transaction's request. */
  readonly bytes: number
  /** The item after the write; undefined when there is none. Throws a validation error when the item does not allow it. */
  readonly result: (was: StoredItem | undefined) => { readonly item: StoredItem | undefined; readonly size: number }
}

type Transacted = NonNullable<TransactWriteCommandInput['TransactItems']>[number]
type Check = NonNullable<Transacted['ConditionCheck']>
type Update = UpdateCommandInput | NonNullable<Transacted['Update']>

const EMPTY = {}

const conditionOf = ({ ConditionExpression: text }: { ConditionExpression?: string | undefined }) =>
  text === undefined ? [] : [compileCondition(text)]

const guard =
  ([condition]: readonly CompiledCondition[], bound: Bound): PlannedWrite['holds'] =>
  (was) =>
    condition?.holds(was ?? EMPTY, bound) ?? true

const tellsItem = ({
  ReturnValuesOnConditionCheckFailure: wanted,
}: {
  ReturnValuesOnConditionCheckFailure?: unknown
}) => wanted === 'ALL_OLD'

export const planPut = (rules: ItemRules, input: PutCommandInput | NonNullable<Transacted['Put']>): PlannedWrite => {
  const condition = conditionOf(input)
  const bound = bind(input, condition)
  const { key, item, size } = rules.itemIn(input.Item)
  return {
    key,
    holds: guard(condition, bound),
    tellsItem: tellsItem(input),
    bytes: size,
    result: () => ({ item, size }),
  }
}

export const planUpdate = (rules: ItemRules, input: Update): PlannedWrite => {
  const condition = conditionOf(input)
  if (input.UpdateExpression === undefined) throw validationError('An update needs an update expression')
  const update = compileUpdate(input.UpdateExpression)
  const bound = bind(input, [update, ...condition])
  checkUpdate(update, bound)
  refuseEmptyNames(bound.values)
  const key = rules.keyIn(input.Key)
  if (update.actions.some(({ name }) => rules.isKeyAttribute(nameIn(bound, name)))) {
    throw itemInvalid('One or more parameter values were invalid: Cannot update attribute that is part of the key')
  }
  return {
    key,
    holds: guard(condition, bound),
    tellsItem: tellsItem(input),
    bytes: itemSize(bound.values),
    result: (was) => {
      const item = applyUpdate(update, was ?? { ...key }, bound)
      return { item, size: rules.checkStored(item) }
    },
  }
}

export const planDelete = (
  rules: ItemRules,
  input: DeleteCommandInput | NonNullable<Transacted['Delete']>,
): PlannedWrite => {
  const condition = conditionOf(input)
  const bound = bind(input, condition)
  return {
    key: rules.keyIn(input.Key),
    holds: guard(condition, bound),
    tellsItem: tellsItem(input),
    bytes: 0,
    result: () => ({ item: undefined, size: 0 }),
  }
}

/** A check writes the item as it is. */
export const planCheck = (rules: ItemRules, input: Check): PlannedWrite => {
  const condition = conditionOf(input)
  if (condition.length === 0) throw validationError('A condition check needs a condition')
  const bound = bind(input, condition)
  return {
    key: rules.keyIn(input.Key),
    holds: guard(condition, bound),
    tellsItem: tellsItem(input),
    bytes: 0,
    result: (was) => ({ item: was, size: 0 }),
  }
}
