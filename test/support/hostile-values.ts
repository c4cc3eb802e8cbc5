import * as fc from 'fast-check'

const HOSTILE_TEXTS = [
  '',
  ' ',
  '0',
  'null',
  '__proto__',
  'constructor',
  '../../admin',
  'a#b',
  '%2e%2e%2f',
  '\u0000',
  '\ud800',
  '\u202e',
  '💸',
  "';--",
  '{{7*7}}',
  'x'.repeat(300),
  'é'.repeat(1_500),
  '9'.repeat(400),
  '+275760-09-13T00:00:00.000Z',
  '9999-12-31T23:59:59-23:59',
  '0000-01-01T00:00:00+23:59',
  '00000000-0000-0000-0000-000000000000',
]

/** The numbers are weights. */
export function weighted<Value>(...choices: readonly (readonly [number, fc.Arbitrary<Value>])[]) {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

export const hostileText = weighted(
  [3, fc.constantFrom(...HOSTILE_TEXTS)],
  [1, fc.string({ unit: 'binary', maxLength: 40 })],
  [1, fc.string({ maxLength: 40 })],
)

export const hostileJson: fc.Arbitrary<fc.JsonValue> = fc.oneof(
  hostileText,
  fc.oneof(
    fc.constantFrom(0, -0, -1, 1, 0.5, 1e-7, 2 ** 31, 2 ** 53, -(2 ** 53), 1e21, 1.7e308),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
  fc.constantFrom(null, true, false, [], {}),
  fc.jsonValue({ maxDepth: 4 }),
)

export function mostlyOf(...values: readonly fc.JsonValue[]) {
  return weighted<fc.JsonValue>([8, fc.constantFrom(...values)], [2, hostileText], [1, hostileJson])
}

/** Some fields may be missing, and unknown ones may be added. */
export function objectOf(fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) {
  return fc
    .tuple(
      weighted<object>([4, fc.record(fields)], [2, fc.record(fields, { requiredKeys: [] })]),
      weighted<object>(
        [4, fc.constant({})],
        [1, fc.dictionary(hostileText, hostileJson, { maxKeys: 3 })],
      ),
    )
    .map(
      ([known, others]) =>
        Object.fromEntries([...Object.entries(others), ...Object.entries(known)]) as fc.JsonValue,
    )
}

export function nearlyRight(
  right: Readonly<Record<string, unknown>>,
  others: Readonly<Record<string, readonly unknown[] | fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const valueOf = (name: string) => {
    const known = others[name] ?? []
    const anything = fc.oneof(hostileText, hostileJson, fc.constant(undefined))
    if ('generate' in known) return fc.oneof(known, anything)
    return known.length === 0 ? anything : fc.oneof(fc.constantFrom(...known), anything)
  }
  const fields = Object.keys({ ...right, ...others })
  const known = fc
    .subarray(fields, { maxLength: Math.min(2, fields.length) })
    .chain((changed) => fc.record(Object.fromEntries(changed.map((name) => [name, valueOf(name)]))))
  const strange = fc.dictionary(hostileText, hostileJson, { maxKeys: 1 })
  return weighted<object>([5, known], [1, strange]).map((changes) => ({ ...right, ...changes }))
}

export function fillIn(value: unknown, names: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return Object.hasOwn(names, value) ? names[value] : value
  if (Array.isArray(value)) return value.map((inner) => fillIn(inner, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, fillIn(inner, names)]),
  )
}
