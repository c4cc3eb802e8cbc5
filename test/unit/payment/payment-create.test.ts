/** Goal: the parser takes exactly the bodies that the description allows (spec 4.1, rule 1). */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withAttempt } from '../../../shared/payment/create/create-payment.ts'
import {
  createTimeoutMs,
  providerWithin,
  startDeadline,
} from '../../../shared/payment/create/create-times.ts'
import { parsePaymentRequest } from '../../../shared/payment/create/parse-payment-request.ts'
import type { ProviderAttempt } from '../../../shared/payment/payment.ts'
import { isNonWalletCode } from '../../../shared/provider/xendit/xendit-channels.ts'
import { timestampOf } from '../../../shared/time.ts'
import { faultsOf } from '../../support/described-answers.ts'
import { fakeProvider } from '../../support/fake-provider.ts'
import { nearlyRight } from '../../support/hostile-values.ts'
import { runs } from '../../support/runs.ts'
import { aCreateInput } from '../../support/scripted-provider.ts'
import { manualClock } from '../../support/test-deps.ts'

function parse(body: unknown) {
  return parsePaymentRequest(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), {
    now: timestampOf(Date.UTC(2026, 0, 15)),
    provider: { isNonWalletCode },
  })
}

function texts(limit: number) {
  return [null, 7, ...['é', '😀'].flatMap((text) => [text.repeat(limit), text.repeat(limit + 1)])]
}

const ODD = [null, {}, [], [1], 'Sari', { odd: 1 }, { phone: null }, { phone: '0812' }]

const bodies = fc.oneof(
  ...[
    { method: 'virtual_account', channel_code: 'BCA' },
    { method: 'qris' },
    { method: 'ewallet', channel_code: 'OVO' },
  ]
    .map((kind) => ({
      amount: 100_000,
      currency: 'IDR',
      customer: { phone: '+6281234567890' },
      ...kind,
    }))
    .map((right) =>
      nearlyRight(right, {
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

/** JSON Schema cannot say that half a character is refused wherever it is. */
const LONE_SURROGATE = /\\ud[89a-f]/i

it('exactly the described bodies of POST /v1/payments are taken', () => {
  const counts = { taken: 0, refused: 0 }

  fc.assert(
    fc.property(bodies, (body) => {
      fc.pre(!LONE_SURROGATE.test(JSON.stringify(body)))
      const isTaken = parse(body).ok
      counts[isTaken ? 'taken' : 'refused']++
      expect([
        body,
        faultsOf('/components/schemas/CreatePayment', body).length === 0,
      ]).toStrictEqual([body, isTaken])
    }),
    { numRuns: runs(1_000) },
  )

  expect(counts.taken).toBeGreaterThan(20)
  expect(counts.refused).toBeGreaterThan(20)
})

const VALID = { method: 'virtual_account', channel_code: 'BCA', amount: 100_000, currency: 'IDR' }

function refusalOf(body: unknown) {
  const parsed = parse(body)
  if (parsed.ok) throw new Error('the body was taken')
  return parsed.error
}

describe('parsePaymentRequest (spec 4.1)', () => {
  it('names at most 20 fields, and the first field in the message', () => {
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

    expect(
      JSON.stringify(refusals.map(({ message, details }) => [message, details])),
    ).not.toContain(secret)
  })
})

async function timeoutsAfter(seconds: number) {
  const clock = manualClock()
  const deadline = startDeadline(clock)
  clock.advance(seconds)
  const provider = fakeProvider()
  const timeouts: Record<string, number> = {}
  for (const name of ['getRequest', 'getPayment', 'cancelRequest', 'listTransactions'] as const) {
    provider.script(name, async (_: unknown, timeoutMs: number) => {
      timeouts[name] = timeoutMs
      return { kind: 'not_found' as const }
    })
  }
  const within = providerWithin(provider, deadline)
  const read = await within.getRequest('pr-1', 4_000)
  await within.getPayment('py-1', 4_000)
  await within.listTransactions({ limit: 1 }, 4_000)
  await within.cancelRequest('pr-1', 4_000)
  return { timeouts, read, leftMs: deadline.remainingMs() }
}

it.each([
  [22_000, 12_000],
  [12_000, 8_000],
  [11_999, undefined],
])('a create with %d ms left gives the provider %s ms, and keeps time to commit', (leftMs, ms) => {
  expect(createTimeoutMs({ remainingMs: () => leftMs })).toBe(ms)
})

describe('providerWithin (design section 4, Create: one deadline per request)', () => {
  it.each([
    [0, 4_000],
    [19.5, 2_500],
  ])('after %d s gives reads and cancels a timeout of %i ms', async (seconds, ms) => {
    const { timeouts } = await timeoutsAfter(seconds)

    expect(timeouts).toStrictEqual({
      getRequest: ms,
      getPayment: ms,
      listTransactions: ms,
      cancelRequest: ms,
    })
  })

  it('begins no read after the deadline, and still cancels a request', async () => {
    expect(await timeoutsAfter(24)).toStrictEqual({
      timeouts: { cancelRequest: 1_000 },
      read: { kind: 'unanswered', reason: 'unreachable' },
      leftMs: 0,
    })
  })
})

/*
 * A payment's item stays small however often its create is tried, and attempts that were never sent
 * are forgotten first.
 */

function upTo(last: number, count: number) {
  return Array.from({ length: count }, (_, at) => last - count + 1 + at)
}

it.each([
  ['the last twenty where none may have been sent', [], upTo(60, 20)],
  [
    'the first and the last ten where all may have been sent',
    upTo(60, 60),
    [...upTo(10, 10), ...upTo(60, 10)],
  ],
  ['the first two where only they may have been sent', [1, 2], [1, 2, ...upTo(60, 18)]],
  ['two in the middle where only they may have been sent', [12, 15], [12, 15, ...upTo(60, 18)]],
])('of sixty attempts a payment keeps %s', (_, sentNumbers, numbers) => {
  const startedAt = timestampOf(0)
  let attempts: readonly ProviderAttempt[] = []
  for (let number = 1; number <= 60; number++) {
    attempts = withAttempt(attempts, {
      number,
      startedAt,
      outcome: sentNumbers.includes(number) ? 'unknown' : 'refused',
    })
  }

  expect(attempts.map(({ number }) => number)).toStrictEqual(numbers)
})

it.each([
  ['Warung  Kopi 24/7', 'Warung Kopi'],
  ['Café Ubud', 'Cafe Ubud'],
  ['CV 1', 'Gateway'],
  ['C.V.K.', 'CVK'],
  ['K'.repeat(51), 'K'.repeat(50)],
  [`${'K'.repeat(49)} K`, 'K'.repeat(49)],
])('a bank shows to the payer of %s the name %s', (name, displayName) => {
  expect(aCreateInput({}, { name })).toMatchObject({ displayName })
})
