import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { API, type ApiClient, anApi, anApiClient, aPaymentBody, call } from '../../support/api-event.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const VALID = JSON.stringify(aPaymentBody())

/** A valid body with one more member, written as it stands. */
const withMember = (member: string) => `{${member},${VALID.slice(1)}`
const withAmount = (digits: string) => VALID.replace('100000', digits)
const withMetadata = (json: string) => withMember(`"metadata":${json}`)
const withSurrogate = (field: string) => {
  const [outer = '', inner] = field.split('.')
  const { [outer]: _, ...rest } = aPaymentBody()
  const value = inner === undefined ? '"a\\ud800"' : `{"${inner}":"\\udfff"}`
  return `{"${outer}":${value},${JSON.stringify(rest).slice(1)}`
}
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const bytes = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))))

/** What is wrong with a body as such. */
const invalid = (what: string) => `invalid JSON body: ${what}`

const MALFORMED = invalid('not well-formed JSON')
const NOT_UTF8 = invalid('the body is not UTF-8')
const TWICE = invalid('a key appears twice')
const TOO_DEEP = invalid('nested too deeply')
const TOO_LARGE = invalid('the body is larger than 64 KB')
const NO_INTEGER = invalid('amount: must be an integer')
const METADATA_TOO_DEEP = 'metadata is not JSON-serialisable: nested deeper than 32 levels'
const METADATA_SURROGATE = 'metadata is not JSON-serialisable: a string has a lone surrogate'
const NOT_AN_OBJECT = invalid('expected an object')

const HOSTILE: readonly (readonly [what: string, body: string | Buffer, message: string])[] = [
  ['no bytes', '', invalid('the body is empty')],
  ['white space', ' \r\n\t', invalid('the body is empty')],
  ['null', 'null', NOT_AN_OBJECT],
  ['an array', `[${VALID}]`, NOT_AN_OBJECT],
  ['a number', '5', NOT_AN_OBJECT],
  ['a text', '"x"', NOT_AN_OBJECT],
  ['true', 'true', NOT_AN_OBJECT],
  // Whatever else is no JSON: `json.test.ts`.
  ['half a body', VALID.slice(0, -2), MALFORMED],
  ['a form', 'method=qris&amount=1&currency=IDR', MALFORMED],
  ['a byte order mark', `\ufeff${VALID}`, MALFORMED],
  ['UTF-16', Buffer.from(VALID, 'utf16le'), MALFORMED],
  ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${VALID}`, 'utf16le'), NOT_UTF8],
  ['Latin-1', Buffer.from(withMember('"description":"café"'), 'latin1'), NOT_UTF8],
  ['a surrogate as CESU-8 bytes', bytes('{"description":"', 0xed, 0xa0, 0x80, '"}'), NOT_UTF8],
  ['an overlong encoding', bytes('{"description":"', 0xc0, 0xaf, '"}'), NOT_UTF8],
  ['gzip', gzipSync(VALID), NOT_UTF8],
  ['64 KB and a byte', VALID + ' '.repeat(65_537 - VALID.length), TOO_LARGE],
  ['1 MB', withMember(`"description":"${'x'.repeat(2 ** 20)}"`), TOO_LARGE],
  ['33 levels in metadata', withMetadata(nested(33)), METADATA_TOO_DEEP],
  ['33 levels of arrays in metadata', withMetadata(`{"a":${arrays(32)}}`), METADATA_TOO_DEEP],
  ['10,000 levels of objects in metadata', withMetadata(nested(10_000)), TOO_DEEP],
  ['1,000 levels of arrays', arrays(1_000), NOT_AN_OBJECT],
  ['1,000 levels in a field', withMember(`"description":${arrays(1_000)}`), invalid('description: must be string')],
  ['a key twice', withMember('"amount":1'), TWICE],
  ['a key twice with deep equal values', withMetadata(`{"a":${nested(1_900)},"a":${nested(1_900)}}`), TWICE],
  ['__proto__ twice', withMetadata('{"__proto__":{},"__proto__":{}}'), TWICE],
  ['a fraction', withAmount('1.5'), NO_INTEGER],
  ['an integer of 60,000 digits', withAmount('9'.repeat(60_000)), NO_INTEGER],
  ['an exponent of 60,000 digits', withAmount(`1e${'9'.repeat(60_000)}`), NO_INTEGER],
  ['an amount as text', withAmount('"100000"'), invalid('amount: must be a number')],
  [
    'an expiry of a fraction',
    withMember('"expires_in_seconds":0.5'),
    invalid('expires_in_seconds: must be an integer'),
  ],
  ['a method of 5', VALID.replace('"virtual_account"', '5'), invalid('method: must be string')],
  ['a method in an array', VALID.replace('"virtual_account"', '["qris"]'), invalid('method: must be string')],
  ['a bank of null', VALID.replace('"BCA"', 'null'), 'channel_code required for method virtual_account'],
  ['a customer of [1]', withMember('"customer":[1]'), invalid('customer: must be an object')],
  ['metadata of [[]]', withMetadata('[[]]'), 'metadata is not JSON-serialisable: must be an object'],
  ['a customer of 5', withMember('"customer":5'), invalid('customer: must be an object')],
  ['an unknown field', withMember('"colour":"red"'), invalid('colour: unknown field')],
  [
    'an unknown field of null of the customer',
    withMember('"customer":{"age":null}'),
    invalid('customer.age: unknown field'),
  ],
  ['a field in other letters', withMember('"Amount":1'), invalid('Amount: unknown field')],
  ['an unknown field of the customer', withMember('"customer":{"age":5}'), invalid('customer.age: unknown field')],
  ['__proto__', withMember('"__proto__":{"amount":1}'), invalid('__proto__: unknown field')],
  ['toString', withMember('"toString":1'), invalid('toString: unknown field')],
  [
    '__proto__ in the customer',
    withMember('"customer":{"__proto__":{}}'),
    invalid('customer.__proto__: unknown field'),
  ],
  ['a field name of 5,000 characters', withMember(`"${'x'.repeat(5_000)}":1`), invalid('body: unknown field')],
  ['a lone surrogate as field name', withMember('"\\ud800":1'), invalid('body: unknown field')],
  ['a lone surrogate in a key of metadata', withMetadata('{"a":[{"\\udc00":1}]}'), METADATA_SURROGATE],
  ['a lone surrogate in a text of metadata', withMetadata('{"a":["\\ud83d"]}'), METADATA_SURROGATE],
  ...['method', 'channel_code', 'currency', 'external_reference', 'description', 'customer.name', 'customer.phone'].map(
    (field) =>
      [`a lone surrogate in ${field}`, withSurrogate(field), invalid(`${field}: must be well-formed Unicode`)] as const,
  ),
]

const KEY = 'hostile'

const send = (deps: TestDeps, caller: ApiClient, body: string | Buffer) =>
  call(deps, API.createPayment, { caller, body, headers: { 'Idempotency-Key': KEY } })

const written = async (deps: TestDeps, caller: ApiClient) => {
  const total = (await call(deps, API.listPayments, { caller })).body['pagination']
  return { stored: await findStoredPayment(deps, paymentIdForKey(caller.clientId, KEY)), total }
}

const NOTHING = { stored: undefined, total: { page: 1, per_page: 25, total: 0, total_pages: 0 } }

describe('POST /v1/payments refuses hostile bodies with 422 and writes nothing (spec 4.1, rule 1)', () => {
  it.each(HOSTILE)('%s', async (_, body, message) => {
    const { deps, caller } = await anApi()

    const { status, body: answer } = await send(deps, caller, body)

    expect([status, answer['code'], answer['message']]).toStrictEqual([422, 'validation', message])
    expect(await written(deps, caller)).toStrictEqual(NOTHING)
    expect(deps.provider.calls).toStrictEqual([])
  })

  it('names every unknown and misshapen field at once, and what is wrong with the others', async () => {
    const deps = testDeps()

    const { body } = await send(
      deps,
      await anApiClient(deps),
      '{"amount":"1","b":1,"a":2,"customer":{"x":1},"currency":5}',
    )

    expect(body).toStrictEqual({
      message: invalid('b: unknown field'),
      code: 'validation',
      field_errors: {
        b: ['unknown field'],
        a: ['unknown field'],
        'customer.x': ['unknown field'],
        amount: ['must be a number'],
        currency: ['must be string'],
        method: ['unsupported method: ', 'must be one of virtual_account, ewallet, qris'],
      },
    })
  })

  it('takes a body of exactly 64 KB, and one that API Gateway handed over as base64', async () => {
    const { ask } = await anApi()

    const large = await ask('createPayment', { body: VALID + ' '.repeat(65_536 - VALID.length) })
    const encoded = await ask('createPayment', { body: VALID, asBase64: true })

    expect([large.status, encoded.status]).toStrictEqual([201, 201])
  })
})
