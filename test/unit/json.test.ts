import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import {
  isLosslessNumber,
  memberText,
  parseOwnJson,
  readJson,
  toInteger,
  toJson,
} from '../../shared/json.ts'
import { runs } from '../support/runs.ts'
import { itHoldsFor } from './it-holds-for.ts'

function read(text: string) {
  return readJson(Buffer.from(text))
}

function valueOf(text: string) {
  const result = read(text)
  if (!result.ok) throw new Error(result.reason)
  return result.value
}

const TWICE = { ok: false, reason: 'a key appears twice' }

/**
 * The text of an object with its members in the order drawn, keys that look like integers among
 * them.
 */
const anyObjectText = fc.letrec<{ object: string; value: string }>((tie) => ({
  object: fc
    .uniqueArray(
      fc.tuple(
        fc.oneof(fc.nat({ max: 20 }).map(String), fc.string(), fc.constant('__proto__')),
        tie('value'),
      ),
      { selector: ([key]) => key, maxLength: 5 },
    )
    .map(
      (members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`,
    ),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 0 }).map((value) => JSON.stringify(value)),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values.join()}]`),
    tie('object'),
  ),
})).object

describe('readJson', () => {
  // v.parseJson calls JSON.parse.
  const JsonTextSchema = v.pipe(v.string(), v.parseJson())
  const lettersOfJson = fc.constantFrom(...'{}[]",:0123456789.eE+-\\ua truefalsn\n\t '.split(''))

  itHoldsFor(fc.oneof(fc.string({ unit: lettersOfJson, maxLength: 30 }), fc.json()))(
    'takes and refuses what JSON.parse takes and refuses',
    (text) => {
      const result = read(text)

      // JSON.parse allows a repeated key, and the gateway does not.
      const twice = !result.ok && result.reason === TWICE.reason
      expect(result.ok || twice).toBe(v.is(JsonTextSchema, text))
    },
    { numRuns: runs(1_000) },
  )

  const anObject = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 })

  itHoldsFor(anObject, fc.nat())('refuses a member that appears twice anywhere', (object, pick) => {
    const members = Object.entries(object).map(
      ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
    )
    const again = members[pick % members.length] ?? ''

    expect(read(`{${members.join()}}`).ok).toBe(true)
    expect(read(`[{"x":{${[...members, again].join()}}}]`)).toStrictEqual(TWICE)
  })

  it('refuses nesting past 2,000 levels before it parses, and reads up to there', () => {
    const tooDeep = { ok: false, reason: 'nested too deeply' }
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

    expect(read(nested(2_000)).ok).toBe(true)
    expect(read(nested(2_001))).toStrictEqual(tooDeep)
    expect(read('['.repeat(10_000_000))).toStrictEqual(tooDeep)
    expect(read(`"${'['.repeat(5_000)}\\"["`).ok).toBe(true)
  })
})

describe('toInteger', () => {
  const integerOf = (digits: string) => {
    const value = valueOf(digits)
    if (!isLosslessNumber(value)) throw new Error('not a number')
    return toInteger(value)
  }

  const [anInteger, aDigit] = [fc.maxSafeInteger(), fc.integer({ min: 1, max: 9 })]
  const [someZeros, moreZeros] = [fc.nat({ max: 5 }), fc.nat({ max: 40 })]

  itHoldsFor(anInteger, someZeros)(
    'is a safe integer itself, however it is written',
    (value, zeros) => {
      expect(integerOf(String(value))).toBe(value)
      expect(integerOf(`${value}.${'0'.repeat(zeros + 1)}`)).toBe(value)
      // JSON writes no zeros after a leading zero.
      expect(integerOf(`${value}${value === 0 ? '' : '0'.repeat(zeros)}e-${zeros}`)).toBe(value)
    },
  )

  itHoldsFor(
    anInteger,
    moreZeros,
    aDigit,
  )('is NaN for every fraction', (value, zeros, digit) => {
    expect(integerOf(`${value}.${'0'.repeat(zeros)}${digit}`)).toBeNaN()
    expect(integerOf(`${digit}e-${zeros + 1}`)).toBeNaN()
  })

  it.each([
    ['1e3', 1_000],
    ['0e999', 0],
    ['-0', -0],
    ['1e-400', Number.NaN],
    ['1e400', Number.NaN],
    ['9007199254740993', 2 ** 53],
  ])('reads %s as %d', (digits, expected) => {
    expect(integerOf(digits)).toBe(expected)
  })
})

itHoldsFor(anyObjectText)('parseOwnJson reads what JSON.parse reads', (text) => {
  expect(parseOwnJson(text)).toStrictEqual(JSON.parse(text))
})

itHoldsFor(fc.jsonValue({ maxDepth: 6 }))(
  'toJson writes a value as JSON.stringify does',
  (value) => {
    const withGaps = { a: value, b: undefined, c: [undefined, value] }

    expect(toJson(withGaps)).toBe(JSON.stringify(withGaps))
  },
)

describe('memberText', () => {
  const aSpace = fc.constantFrom('', ' ', '\n\t')

  itHoldsFor(anyObjectText, aSpace)(
    'is the text after the key, however the object is laid out',
    (text, space) => {
      const laidOut = `${space}{"a":{"x":1,"m":2},${space}"m\\u006d"${space}:${space}${text}${space},"b":"mm"${space}}`

      expect(memberText(laidOut, 'mm')).toBe(text)
      expect(memberText(`{"mm":${space}${text}${space}}`, 'mm')).toBe(text)
    },
  )

  it('keeps every character of a value but white space between tokens', () => {
    const text = '{ "m" : [ 1.0 , "a  b\\u00e9\\/\\"]}" , { "2" : true , "1" : null } ] }'

    expect(memberText(text, 'm')).toBe('[1.0,"a  b\\u00e9\\/\\"]}",{"2":true,"1":null}]')
  })

  it.each(['{}', '{"a":{"m":1},"b":"m","c":["m",{"m":2}]}'])(
    'is undefined for a key that %s does not have',
    (text) => {
      expect(memberText(text, 'm')).toBeUndefined()
    },
  )
})
