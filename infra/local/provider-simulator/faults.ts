import * as v from 'valibot'
import { ProviderError, parseInput } from './provider-error.ts'
import type { FaultOrder } from './simulator-store.ts'
import { nextInSequence, type World } from './world.ts'

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

const CALL_FAULTS = {
  timeout_after_commit: told('The call has its effect, but the answer is lost.'),
  timeout: told('The call has no effect and no answer.'),
  http_500: told('The call has no effect. The answer is 500.'),
  http_503: told('The call has no effect. The answer is 503.'),
  /** The seconds in the header `Rate-Limit-Reset`. */
  http_429: told(
    'The call has no effect. The answer is 429: too many requests.',
    v.nullish(Seconds),
  ),
  slow: told(
    'The call has its effect. The answer comes after this number of milliseconds.',
    Milliseconds,
  ),
  refuse: told(
    'The call has no effect. The answer has this error code.',
    codeField('an error_code', 'INVALID_MERCHANT_SETTINGS'),
  ),
}

/** By target, with the schema of the `value` (design section 6). */
const FAULTS = {
  create: {
    ...CALL_FAULTS,
    failed: told(
      'The payment fails at once. The answer has this failure code.',
      codeField('a failure_code', 'USER_DECLINED_PAYMENT'),
    ),
  },
  get: CALL_FAULTS,
  cancel: CALL_FAULTS,
  transactions: {
    ...CALL_FAULTS,
    missing: told('A row is not in the list.'),
    duplicate: told('A row is in the list twice.'),
    wrong_amount: told('A row has another amount.', v.nullish(Amount)),
    fee: told('A row settles at once, with this fee in IDR.', Fee),
    fee_late: told('The fee of a row is final after this number of seconds.', Seconds),
    fee_invoiced: told('A row has no fee: the provider sends an invoice.'),
    settle_now: told('A row settles at once, and its fee is final.'),
    row_late: told('A row is in the list only after this number of seconds.', Seconds),
  },
  callback: {
    lost: told('The callback is never sent.'),
    duplicate: told('The callback is sent this number of times.', v.nullish(Copies)),
    delay: told('The callback is sent after this number of seconds.', Seconds),
    reorder: told('The callback is sent after the next one.'),
    forged: told('A callback reports this payment as paid, but it was not paid.', ForgedValue),
    wrong_token: told('The callback has a wrong token.'),
    legacy_names: told('The callback uses the event names of an older version.'),
  },
  payment: {
    wrong_amount: told('The customer pays this amount instead.', Amount),
    after_expiry: told('The customer can still pay after the expiry.'),
    found_at_settlement: told('The provider finds the money only when it settles.'),
  },
} satisfies Readonly<Record<string, Readonly<Record<string, v.GenericSchema>>>>

/** What each fault does, as an example order that can be sent unchanged. */
export function faultExamples(): readonly object[] {
  return Object.entries(FAULTS).flatMap(([target, faults]) =>
    Object.entries<v.GenericSchema>(faults).map(([fault, schema]) => {
      const [value]: readonly unknown[] = v.getExamples(schema)
      return {
        target,
        fault,
        does: v.getDescription(schema),
        ...(value !== undefined && { value }),
      }
    }),
  )
}

/** `does`: for a person who chooses the fault. */
function told(does: string, value: v.GenericSchema = v.unknown()) {
  return v.pipe(value, v.description(does))
}

function codeField(name: string, example: string) {
  const message = `must be ${name}`
  return v.pipe(v.string(message), v.regex(/^[A-Z0-9_]{1,64}$/, message), v.examples([example]))
}

const FaultOrderSchema = v.strictObject({
  target: v.string(),
  fault: v.string(),
  /** From the list; has no effect. */
  does: v.optional(v.string()),
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
