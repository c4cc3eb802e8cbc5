import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memberText, parseOwnJson } from '../../shared/json.ts'

/** The text of an object with its members in the order drawn, keys that look like integers among them. */
const anyObjectText: fc.Arbitrary<string> = fc.letrec<{ object: string; value: string }>((tie) => ({
  object: fc
    .uniqueArray(
      fc.tuple(fc.oneof(fc.nat({ max: 20 }).map(String), fc.string(), fc.constant('__proto__')), tie('value')),
      { selector: ([key]) => key, maxLength: 5 },
    )
    .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 0 }).map((value) => JSON.stringify(value)),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values.join()}]`),
    tie('object'),
  ),
})).object

describe('parseOwnJson', () => {
  it('reads what JSON.stringify writes again with its keys in their order, integer-like keys included', () => {
    fc.assert(
      fc.property(anyObjectText, (text) => {
        expect(JSON.stringify(parseOwnJson(text))).toBe(text)
      }),
    )
  })

  it('reads a value like any other', () => {
    const value = Object(parseOwnJson('{"b":{"10":[],"9":true},"__proto__":{"2":"x","1":null}}'))

    expect(value).toStrictEqual(JSON.parse('{"b":{"10":[],"9":true},"__proto__":{"2":"x","1":null}}'))
    expect(Object.keys(value.b)).toStrictEqual(['10', '9'])
  })

  it.each(['', '{', '{"a"}', '{"a":1', '"\\'])('throws at %j', (text) => {
    expect(() => parseOwnJson(text)).toThrow(SyntaxError)
  })
})

describe('memberText', () => {
  it('is what stands behind the key, wherever it is and however the text is laid out', () => {
    fc.assert(
      fc.property(anyObjectText, fc.constantFrom('', ' ', '\n\t'), (text, space) => {
        const laidOut = `${space}{"a":{"x":1,"m":2},${space}"m\\u006d"${space}:${space}${text}${space},"b":"mm"${space}}`

        expect(memberText(laidOut, 'mm')).toBe(text)
        expect(memberText(`{"mm":${space}${text}${space}}`, 'mm')).toBe(text)
      }),
    )
  })

  it('keeps every character of a value but white space between tokens', () => {
    const text = '{ "m" : [ 1.0 , "a  b\\u00e9\\/\\"]}" , { "2" : true , "1" : null } ] }'

    expect(memberText(text, 'm')).toBe('[1.0,"a  b\\u00e9\\/\\"]}",{"2":true,"1":null}]')
  })

  it('is undefined of a key that the object itself does not have', () => {
    expect(memberText('{"a":{"m":1},"b":"m","c":["m",{"m":2}]}', 'm')).toBeUndefined()
    expect(memberText('{}', 'm')).toBeUndefined()
  })
})
