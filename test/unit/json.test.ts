import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isDeeperThan,
  isJsonObject,
  isLosslessNumber,
  isWellFormedDeep,
  parseOwnJson,
  readJson,
  toInteger,
  writeJson,
} from '../../shared/json.ts'

const read = (text: string) => readJson(Buffer.from(text))

const valueOf = (text: string): unknown => {
  const result = read(text)
  if (!result.ok) throw new Error(result.reason)
  return result.value
}

const integerOf = (digits: string): number => {
  const value = valueOf(digits)
  if (!isLosslessNumber(value)) throw new Error('not a number')
  return toInteger(value)
}

const nested = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels)

/** JSON's own letters, so that texts are nearly JSON. */
const nearlyJson = fc.string({
  unit: fc.constantFrom(...'{}[]",:0123456789.eE+-\\ua truefalsn\n\t '.split('')),
  maxLength: 30,
})

describe('readJson', () => {
  it('takes and refuses what JSON.parse takes and refuses', () => {
    const parses = (text: string) => {
      try {
        JSON.parse(text)
        return true
      } catch {
        return false
      }
    }

    fc.assert(
      fc.property(fc.oneof(nearlyJson, fc.json()), (text) => {
        const result = read(text)
        const expected = parses(text)

        // The one thing JSON.parse allows and we do not.
        const twice = !result.ok && result.reason === 'a key appears twice'
        expect(result.ok || twice).toBe(expected)
      }),
      { numRuns: 3_000 },
    )
  })

  it('reads any value as JSON.parse does, and writes it again', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value)

        expect(JSON.parse(writeJson(valueOf(text)))).toStrictEqual(JSON.parse(text))
        expect(JSON.stringify(parseOwnJson(text))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  it.each(['-0', '1.0', '1e2', '1E+2', '0.10', '1e400', '9007199254740993', `0.${'1'.repeat(400)}`])(
    'keeps the digits of %s',
    (digits) => {
      const text = `{"a":[${digits}]}`

      expect(writeJson(valueOf(text))).toBe(text)
      expect(JSON.stringify(parseOwnJson(text))).toBe(text)
    },
  )

  it.each([
    ['{"a":1,"a":2}'],
    ['{"a":1,"a":1}'],
    ['{"a":1,"\\u0061":1}'],
    ['[{"a":{"b":[],"b":{}}}]'],
    ['{"a":{},"a":[]}'],
    ['{"__proto__":1,"__proto__":1}'],
    ['{"a":1,"b":{"a":1},"b":{"a":1}}'],
    ['{"":1,"":1}'],
  ])('refuses a key that appears twice: %s', (text) => {
    expect(read(text)).toStrictEqual({ ok: false, reason: 'a key appears twice' })
  })

  it.each(['{"a":1,"b":{"a":1}}', '{":":":"}', '{"a":"\\"b\\":\\"b\\":"}', '{"a":[1,1],"b":"{\\"x\\":1,\\"x\\":1}"}'])(
    'sees no key twice in %s',
    (text) => {
      expect(read(text).ok).toBe(true)
    },
  )

  it('finds a member put in twice anywhere', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (object, pick) => {
        const members = Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
        const again = members[pick % members.length] ?? ''

        expect(read(`{${members.join()}}`).ok).toBe(true)
        expect(read(`[{"x":{${[...members, again].join()}}}]`)).toStrictEqual({
          ok: false,
          reason: 'a key appears twice',
        })
      }),
    )
  })

  it('hands over the text it read', () => {
    expect(read(' {"2":1,"1":"é"}\n')).toMatchObject({ ok: true, text: ' {"2":1,"1":"é"}\n' })
  })

  it('refuses nesting past 2,000 levels before it parses, and reads up to there', () => {
    const tooDeep = { ok: false, reason: 'nested too deeply' }

    expect(read(nested('[', ']', 2_000)).ok).toBe(true)
    expect(read(nested('[', ']', 2_001))).toStrictEqual(tooDeep)
    expect(read('['.repeat(10_000_000))).toStrictEqual(tooDeep)
    expect(read(`"${'['.repeat(5_000)}\\"["`).ok).toBe(true)
  })

  it('quotes nothing of a text it refuses', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 5, unit: fc.constantFrom(...'zqxw{}[]'.split('')) }), (text) => {
        const result = read(`{"a":${text}`)

        expect(JSON.stringify(result)).not.toContain(text)
      }),
    )
  })

  it('refuses bytes that are no UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array({ min: 0x80, max: 0xbf, minLength: 1 }), (octets) => {
        expect(readJson(Buffer.from(octets))).toStrictEqual({ ok: false, reason: 'the body is not UTF-8' })
      }),
    )
  })
})

describe('toInteger', () => {
  it('is the number itself for every safe integer, however it is written', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.nat({ max: 5 }), (value, zeros) => {
        expect(integerOf(String(value))).toBe(value)
        expect(integerOf(`${value}.${'0'.repeat(zeros + 1)}`)).toBe(value)
        // JSON writes no zeros behind a leading zero.
        expect(integerOf(`${value}${value === 0 ? '' : '0'.repeat(zeros)}e-${zeros}`)).toBe(value)
      }),
    )
  })

  it('is NaN for every number with a fraction, however small or hidden', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.nat({ max: 40 }), fc.integer({ min: 1, max: 9 }), (value, zeros, digit) => {
        expect(integerOf(`${value}.${'0'.repeat(zeros)}${digit}`)).toBeNaN()
        expect(integerOf(`${digit}e-${zeros + 1}`)).toBeNaN()
      }),
    )
  })

  it.each([
    ['1e3', 1_000],
    ['0e999', 0],
    ['0.0', 0],
    ['-0', -0],
    ['1e-400', Number.NaN],
    ['1e400', Number.NaN],
    ['9007199254740993', 2 ** 53],
  ])('of %s is %d', (digits, expected) => {
    expect(integerOf(digits)).toBe(expected)
  })
})

describe('isWellFormedDeep', () => {
  it.each(['"\\ud800"', '["\\udc00"]', '{"\\ud800":1}', '{"a":{"b":["x\\udfffy"]}}', '"\\udc00\\ud800"'])(
    'refuses %s',
    (text) => {
      expect(isWellFormedDeep(valueOf(text))).toBe(false)
    },
  )

  it.each(['"\\ud83d\\ude00"', '{"👍🏽":["é",1,null,true]}', '{}', '1'])('takes %s', (text) => {
    expect(isWellFormedDeep(valueOf(text))).toBe(true)
  })
})

describe('isDeeperThan', () => {
  it.each([
    ['1', 0],
    ['"x"', 0],
    ['{}', 1],
    ['[1,2]', 1],
    ['{"a":1,"b":[{}]}', 3],
    [nested('[', ']', 33), 33],
  ])('counts the levels of %s as %i', (text, levels) => {
    expect(isDeeperThan(valueOf(text), levels)).toBe(false)
    if (levels > 0) expect(isDeeperThan(valueOf(text), levels - 1)).toBe(true)
  })
})

describe('isJsonObject', () => {
  it('is true of objects alone', () => {
    const values = ['{}', '{"a":1}', '[]', '1', 'null', '"x"', 'true'].map(valueOf)

    expect(values.map(isJsonObject)).toStrictEqual([true, true, false, false, false, false, false])
  })
})
