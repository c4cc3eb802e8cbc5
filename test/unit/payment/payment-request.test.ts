/**
 * Goal: what the description says may be sent is what is taken, and nothing else is (spec 4.1, rule 1).
 * Method: bodies near right ones, judged by the description and by the parser.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GatewayError } from '../../../shared/errors.ts'
import { parsePaymentRequest } from '../../../shared/payment/create/parse-payment-request.ts'
import { isNonWalletCode } from '../../../shared/provider/xendit/xendit-channels.ts'
import { timestampOf } from '../../../shared/time.ts'
import { faultsOf } from '../../support/described-answers.ts'
import { nearly } from '../../support/hostile-values.ts'
import { runs } from '../../support/runs.ts'

const parse = (body: unknown) =>
  parsePaymentRequest(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), {
    now: timestampOf(Date.UTC(2026, 0, 15)),
    provider: { isNonWalletCode },
  })

const texts = (limit: number) => [null, 7, ...['é', '😀'].flatMap((one) => [one.repeat(limit), one.repeat(limit + 1)])]

const ODD = [null, {}, [], [1], 'Sari', { odd: 1 }, { phone: null }, { phone: '0812' }]

/** Of each kind of payment, nearly as it should be. */
const bodies = fc.oneof(
  ...[
    { method: 'virtual_account', channel_code: 'BCA' },
    { method: 'qris' },
    { method: 'ewallet', channel_code: 'OVO' },
  ]
    .map((kind) => ({ amount: 100_000, currency: 'IDR', customer: { phone: '+6281234567890' }, ...kind }))
    .map((right) =>
      nearly(right, {
        method: ['ewallet', 'virtual_account', 'qris', 'cash', ''],
        channel_code: [
          ...'BCA BNI OVO DANA NEXCASH QRIS CARDS CIMB_VIRTUAL_ACCOUNT bca'.split(' '),
          '',
          'A'.repeat(65),
        ],
        amount: [1, 0, -1, 1.5, 10 ** 12, 10 ** 12 + 1, '1'],
        currency: ['USD', 'idr'],
        external_reference: texts(255),
        customer: [...ODD, ...texts(255).map((name) => ({ name, phone: '+6281234567890' }))],
        description: texts(1_000),
        metadata: [{}, { a: [1] }, null, [], [1]],
        expires_in_seconds: [0, 60, -1, 31_536_000, 31_536_001, 1.5, null],
      }),
    ),
)

/** JSON Schema has no word for it: half a character is refused wherever it is. */
const LONE_SURROGATE = /\\ud[89a-f]/i

/** An empty array is taken as an empty object, for PHP. A client made from the description never sends it. */
const EMPTY_IN_PHP = /"(?:customer|metadata)":\[\]/

it('the described body of POST /v1/payments is one that is taken, and the other way round', () => {
  const seen = { taken: 0, refused: 0 }

  fc.assert(
    fc.property(bodies, (body) => {
      fc.pre(!LONE_SURROGATE.test(JSON.stringify(body)) && !EMPTY_IN_PHP.test(JSON.stringify(body)))
      const isTaken = parse(body).ok
      seen[isTaken ? 'taken' : 'refused']++
      expect([body, faultsOf('/components/schemas/CreatePayment', body).length === 0]).toStrictEqual([body, isTaken])
    }),
    { numRuns: runs(1_000) },
  )

  expect(seen.taken).toBeGreaterThan(20)
  expect(seen.refused).toBeGreaterThan(20)
})

/* What the endpoint's own tests do not show: what is true of any value, and what is cut or kept to ourselves. */

const VALID = { method: 'virtual_account', channel_code: 'BCA', amount: 100_000, currency: 'IDR' }

const refusalOf = (body: unknown): GatewayError => {
  const parsed = parse(body)
  if (parsed.ok) throw new Error('the body was taken')
  return parsed.error
}

describe('parsePaymentRequest (spec 4.1)', () => {
  it('names at most 20 fields and the first as the message', () => {
    const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`field_${at}`, at]))

    const { message, details } = refusalOf({ ...unknown, ...VALID })

    expect(message).toBe('invalid JSON body: field_0: unknown field')
    expect(Object.keys(details.fieldErrors ?? {})).toHaveLength(20)
  })

  it('repeats no value of a customer, a description or metadata', () => {
    const secret = 'zq-secret'
    const quoting = [
      { ...VALID, customer: { phone: [secret] } },
      { ...VALID, customer: { name: secret.repeat(100) } },
      { ...VALID, method: 'ewallet', channel_code: 'OVO', customer: { phone: secret } },
      { ...VALID, description: secret.repeat(200) },
      { ...VALID, metadata: secret },
      { ...VALID, external_reference: { [secret]: secret } },
      `{"description":"${secret}"`,
    ]

    const refusals = quoting.map(refusalOf)

    expect(JSON.stringify(refusals.map(({ message, details }) => [message, details]))).not.toContain(secret)
  })
})
