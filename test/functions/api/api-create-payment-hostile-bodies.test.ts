import { describe, expect, it } from 'vitest'
import { aPaymentBody } from '../../support/api-event.ts'
import { METHODS, refusedCreate, sendCreate } from './refused-create.ts'

const VALID = JSON.stringify(aPaymentBody())

function withMember(member: string) {
  return `{${member},${VALID.slice(1)}`
}
function withAmount(digits: string) {
  return VALID.replace('100000', digits)
}
function withMetadata(json: string) {
  return withMember(`"metadata":${json}`)
}
function nested(levels: number) {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
}

function invalid(what: string) {
  return `invalid JSON body: ${what}`
}

const METADATA_SURROGATE = 'metadata is not JSON-serialisable: a string has a lone surrogate'
const EXPIRY = 'expires_in_seconds'

const HOSTILE = [
  ['no bytes', '', invalid('the body is empty')],
  ['null', 'null', invalid('expected an object')],
  ['a byte order mark', `\ufeff${VALID}`, invalid('not well-formed JSON')],
  [
    'Latin-1',
    Buffer.from(withMember('"description":"café"'), 'latin1'),
    invalid('the body is not UTF-8'),
  ],
  [
    '64 KB and a byte',
    VALID + ' '.repeat(65_537 - VALID.length),
    invalid('the body is larger than 64 KB'),
  ],
  [
    '33 metadata levels',
    withMetadata(nested(33)),
    'metadata is not JSON-serialisable: nested deeper than 32 levels',
  ],
  ['3,000 levels of metadata', withMetadata(nested(3_000)), invalid('nested too deeply')],
  ['100,000 levels', '['.repeat(100_000), invalid('the body is larger than 64 KB')],
  ['a key twice', withMember('"amount":1'), invalid('a key appears twice')],
  ['a fraction', withAmount('1.5'), invalid('amount: must be an integer')],
  ['an underscore', withAmount('100_000'), invalid('not well-formed JSON')],
  [
    'an expiry of a fraction',
    withMember(`"${EXPIRY}":0.5`),
    invalid(`${EXPIRY}: must be an integer`),
  ],
  ['a method of 5', VALID.replace('"virtual_account"', '5'), invalid('method: must be string')],
  ['a customer of [1]', withMember('"customer":[1]'), invalid('customer: must be an object')],
  [
    'metadata of [[]]',
    withMetadata('[[]]'),
    'metadata is not JSON-serialisable: must be an object',
  ],
  ['an unknown field', withMember('"colour":"red"'), invalid('colour: unknown field')],
  ['__proto__', withMember('"__proto__":{"amount":1}'), invalid('__proto__: unknown field')],
  [
    'a customer’s field __proto__',
    withMember('"customer":{"__proto__":{}}'),
    invalid('customer.__proto__: unknown field'),
  ],
  [
    'a field name of 5,000 characters',
    withMember(`"${'x'.repeat(5_000)}":1`),
    invalid('body: unknown field'),
  ],
  ['a lone surrogate as field name', withMember('"\\ud800":1'), invalid('body: unknown field')],
  [
    'a lone surrogate in a key of metadata',
    withMetadata('{"a":[{"\\udc00":1}]}'),
    METADATA_SURROGATE,
  ],
  ['a lone surrogate in a text of metadata', withMetadata('{"a":["\\ud83d"]}'), METADATA_SURROGATE],
  ...[
    'method',
    'channel_code',
    'currency',
    'external_reference',
    'description',
    'customer.name',
    'customer.phone',
  ].map((field) => {
    const [outer = '', inner] = field.split('.')
    const { [outer]: _, ...others } = aPaymentBody()
    const value = inner === undefined ? '"a\\ud800"' : `{"${inner}":"\\udfff"}`
    const body = `{"${outer}":${value},${JSON.stringify(others).slice(1)}`
    return [`a lone surrogate in ${field}`, body, invalid(`${field}: must be well-formed Unicode`)]
  }),
]

describe('POST /v1/payments refuses hostile bodies with 422 and writes nothing (spec 4.1, rule 1)', () => {
  it.each(HOSTILE)('refuses this body: %s', async (_, body, message) => {
    expect((await refusedCreate(body))['message']).toBe(message)
  })

  it('names every unknown and wrong field at once', async () => {
    expect(
      await refusedCreate('{"amount":"1","b":1,"a":2,"customer":{"x":1},"currency":5}'),
    ).toStrictEqual({
      message: invalid('b: unknown field'),
      code: 'validation',
      field_errors: {
        b: ['unknown field'],
        a: ['unknown field'],
        'customer.x': ['unknown field'],
        amount: ['must be a number'],
        currency: ['must be string'],
        method: ['unsupported method: ', METHODS],
      },
    })
  })

  it('accepts a body of exactly 64 KB, and a body that API Gateway passes as base64', async () => {
    const large = await sendCreate(VALID + ' '.repeat(65_536 - VALID.length))
    const encoded = await sendCreate(VALID, true)

    expect([large.status, encoded.status]).toStrictEqual([201, 201])
  })

  // Public report: odoo #235759.
  it.each(['100000.0', '1e5'])('accepts the whole amount %s', async (amount) => {
    expect((await sendCreate(withAmount(amount))).body).toMatchObject({ notional_minor: 100_000 })
  })
})
