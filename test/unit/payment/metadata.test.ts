import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readJson } from '../../../shared/json.ts'
import { readMetadata } from '../../../shared/payment/create/read-metadata.ts'

const metadata = (text: string) => {
  const read = readJson(Buffer.from(`{"amount":1,"metadata":${text},"currency":"IDR"}`))
  if (!read.ok) throw new Error(read.reason)
  return readMetadata(Object(read.value).metadata, read.text)
}

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const refusal = (reason: string) => ({ ok: false, reason })

describe('readMetadata (design section 5)', () => {
  it('has no text when none was sent', () => {
    expect(readMetadata(undefined, '{}')).toStrictEqual({ ok: true, text: undefined })
  })

  it.each([
    '{}',
    '{"a":1.0,"b":[1e2,-0,12345678901234567890]}',
    '{"__proto__":{"a":1}}',
    '{"z":1,"a":"é ☕"}',
    '{"10":1,"9":2,"b":3}',
    '{"b":{"2":[{"1":{"3":0,"-1":0,"0":0}}]},"1":null}',
    '{"\\u0061":"\\u00e9 \\/","a}":"]{,"}',
  ])('keeps %s as it came', (text) => {
    expect(metadata(text)).toStrictEqual({ ok: true, text })
  })

  it('leaves white space between tokens out, and nothing else', () => {
    expect(metadata('{ "a b" :\n[ 1 ,\t"c  d" ] }')).toStrictEqual({ ok: true, text: '{"a b":[1,"c  d"]}' })
  })

  it.each(['[]', '[{}]', '1', '"{}"', 'true'])('refuses %s', (text) => {
    expect(metadata(text)).toStrictEqual(refusal('must be an object'))
  })

  it('takes 32 levels and refuses 33, up to the deepest the parser reads', () => {
    expect(metadata(nested(32)).ok).toBe(true)
    for (const levels of [33, 1_000, 1_999]) {
      expect(metadata(nested(levels))).toStrictEqual(refusal('nested deeper than 32 levels'))
    }
  })

  it('takes 16 KB and refuses a byte more, counted as UTF-8', () => {
    const filled = (text: string) => metadata(`{"a":"${text}"}`)

    expect(filled('x'.repeat(16_376)).ok).toBe(true)
    expect(filled('x'.repeat(16_377))).toStrictEqual(refusal('larger than 16 KB'))
    expect(filled('é'.repeat(8_188)).ok).toBe(true)
    expect(filled('é'.repeat(8_189))).toStrictEqual(refusal('larger than 16 KB'))
  })

  it('refuses a lone surrogate anywhere', () => {
    const alone = refusal('a string has a lone surrogate')

    expect(metadata('{"a":["\\ud800"]}')).toStrictEqual(alone)
    expect(metadata('{"a":{"\\udc00":1}}')).toStrictEqual(alone)
  })

  it('keeps every object it takes, by value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 })), (object) => {
        const text = JSON.stringify(object)
        const kept = metadata(text)

        expect(kept.ok && kept.text && JSON.parse(kept.text)).toStrictEqual(JSON.parse(text))
      }),
    )
  })
})
