import * as v from 'valibot'
import { ProviderError, parseInput } from './provider-error.ts'
import type { FaultOrder } from './simulator-store.ts'
import { nextInSequence, type World } from './world.ts'

const NoValue = v.unknown()
const Amount = v.pipe(wholeNumber(1, 1_000_000_000_000), v.examples([10_000]))
const Fee = v.pipe(wholeNumber(0, 1_000_000_000_000), v.examples([4_440]))
const Copies = v.pipe(wholeNumber(1, 1000), v.examples([3]))
const Milliseconds = v.pipe(wholeNumber(0, 600_000), v.examples([500]))
const Seconds = v.pipe(
  v.number('must be a number of seconds'),
  v.finite(),
  v.minValue(0),
  v.maxValue(31_536_000),
  v.examples([3_600]),
)
export const ForgedValue = v.pipe(
  v.strictObject({ payment_id: v.pipe(v.string(), v.minLength(1)) }),
  v.examples([{ payment_id: '<payment id>' }]),
)

const FailureCode = v.pipe(
  v.string('must be a failure_code'),
  v.regex(/^[A-Z0-9_]{1,64}$/, 'must be a failure_code'),
  v.examples(['USER_DECLINED_PAYMENT']),
)

const CALL_FAULTS = {
  timeout_after_commit: NoValue,
  timeout: NoValue,
  http_500: NoValue,
  http_503: NoValue,
  /** The seconds in the header `Rate-Limit-Reset`. */
  http_429: v.nullish(Seconds),
  slow: Milliseconds,
  refuse: v.pipe(
    v.string('must be an error_code'),
    v.regex(/^[A-Z0-9_]{1,64}$/, 'must be an error_code'),
    v.examples(['INVALID_MERCHANT_SETTINGS']),
  ),
}

/** By target, with the schema of the `value` (design section 6). */
const FAULTS = {
  /** `failed`: the channel refuses the payer at once, so the answer is final. */
  create: { ...CALL_FAULTS, failed: FailureCode },
  get: CALL_FAULTS,
  cancel: CALL_FAULTS,
  transactions: {
    ...CALL_FAULTS,
    missing: NoValue,
    duplicate: NoValue,
    wrong_amount: v.nullish(Amount),
    fee: Fee,
    fee_late: Seconds,
    fee_invoiced: NoValue,
    settle_now: NoValue,
    /** The lists show the row only after so many seconds. */
    row_late: Seconds,
  },
  callback: {
    lost: NoValue,
    duplicate: v.nullish(Copies),
    delay: Seconds,
    reorder: NoValue,
    forged: ForgedValue,
    wrong_token: NoValue,
    legacy_names: NoValue,
  },
  payment: {
    wrong_amount: Amount,
    after_expiry: NoValue,
    /** The provider finds the money at its settlement. Nothing shows it before. */
    found_at_settlement: NoValue,
  },
} satisfies Readonly<Record<string, Readonly<Record<string, v.GenericSchema>>>>

/** An example order of each fault, which can be sent unchanged: `{"target", "fault", "value"?}`. */
export function faultExamples(): readonly object[] {
  return Object.entries(FAULTS).flatMap(([target, faults]) =>
    Object.entries<v.GenericSchema>(faults).map(([fault, schema]) => {
      const [value]: readonly unknown[] = v.getExamples(schema)
      return { target, fault, ...(value !== undefined && { value }) }
    }),
  )
}

const FaultOrderSchema = v.strictObject({
  target: v.string(),
  fault: v.string(),
  times: v.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER), 1),
  value: v.optional(v.unknown()),
})

/** For an unknown target or fault, throws `API_VALIDATION_ERROR` with the valid choices. */
export function parseFaultOrder(input: unknown): FaultOrder {
  const { target, fault, times, value } = parseInput(FaultOrderSchema, input)
  const byTarget: Readonly<Record<string, Readonly<Record<string, v.GenericSchema>>>> = FAULTS
  const faults = Object.hasOwn(byTarget, target) ? byTarget[target] : undefined
  if (!faults) throw unknownChoice('target', target, Object.keys(byTarget))
  const schema = Object.hasOwn(faults, fault) ? faults[fault] : undefined
  if (!schema) throw unknownChoice(`fault for target ${target}`, fault, Object.keys(faults))
  return { target, fault, times, value: parseValue(schema, fault, value) }
}

function wholeNumber(min: number, max: number) {
  return v.pipe(
    v.number('must be a number'),
    v.safeInteger('must be a whole number'),
    v.minValue(min),
    v.maxValue(max),
  )
}

function unknownChoice(kind: string, choice: string, choices: readonly string[]) {
  return new ProviderError(
    'API_VALIDATION_ERROR',
    `unknown ${kind}: ${choice}; choose one of ${choices.join(', ')}`,
  )
}

function parseValue(schema: v.GenericSchema, fault: string, value: unknown) {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  throw new ProviderError('API_VALIDATION_ERROR', `value of ${fault}: ${result.issues[0].message}`)
}

/** For the next `times` uses. Faults with the same name are used in the order of arming. */
export function armFault(world: World, order: FaultOrder) {
  world.store.faults.put({ id: String(nextInSequence(world, 'fault')), ...order })
}

type FaultTarget = keyof typeof FAULTS
type FaultName<Target extends FaultTarget> = Extract<keyof (typeof FAULTS)[Target], string>

/** The earliest armed fault of the target with a wanted name, of which one use is counted. */
export function takeFault<T extends FaultTarget, Name extends FaultName<T>>(
  world: World,
  target: T,
  ...wantedNames: readonly Name[]
) {
  for (const order of world.store.faults.all()) {
    const { id, times, value } = order
    const fault = wantedNames.find((name) => name === order.fault)
    if (order.target !== target || fault === undefined) continue
    if (times > 1) world.store.faults.put({ ...order, times: times - 1 })
    else world.store.faults.delete(id)
    return { fault, value }
  }
  return undefined
}

export type CallTarget = 'create' | 'get' | 'cancel' | 'transactions'

export function takeCallFault(world: World, target: CallTarget) {
  return takeFault(world, target, ...v.keyof(v.object(CALL_FAULTS)).options)
}

export type CallFaultName = keyof typeof CALL_FAULTS

export function numberOf(fault: { readonly value: unknown } | undefined) {
  return typeof fault?.value === 'number' ? fault.value : undefined
}

/** Earliest first. */
export function armedFaults(world: World): FaultOrder[] {
  return world.store.faults
    .all()
    .map(({ target, fault, times, value }) => ({ target, fault, times, value }))
}

export function clearFaults(
  world: World,
  filter: { readonly target?: string; readonly fault?: string } = {},
) {
  for (const { id, target, fault } of world.store.faults.all()) {
    if (target === (filter.target ?? target) && fault === (filter.fault ?? fault))
      world.store.faults.delete(id)
  }
}
