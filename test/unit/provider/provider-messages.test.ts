import { describe, expect, it, vi } from 'vitest'
import { loggedProvider } from '../../../shared/provider/logged-provider.ts'
import {
  type CreateAnswer,
  providerFailure,
  type Unanswered,
} from '../../../shared/provider/provider.ts'
import {
  isCallbackSecret,
  isCallbackToken,
  isProviderSecret,
  readCallbackTokens,
  readProviderKey,
} from '../../../shared/provider/provider-secrets.ts'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { aCreateInput, PROVIDER_KEY, PROVIDER_SECRET } from '../../support/scripted-provider.ts'
import { memoryDeps, testDeps } from '../../support/test-deps.ts'

function parse(event: unknown, data: unknown) {
  return parseCallback(
    JSON.stringify({
      created: '2026-11-20T04:00:00Z',
      business_id: 'b',
      api_version: 'v3',
      event,
      data,
    }),
  )
}

const REFERENCE = '0b1f7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f-1'
const UUID = '4e0209e9-67a2-449a-9748-57df6a8bddad'
const [PR, PY] = [`pr-${UUID}`, `py-${UUID}`] as const
const PAYMENT = {
  payment_id: PY,
  payment_request_id: PR,
  reference_id: REFERENCE,
  status: 'SUCCEEDED',
}
const SUBJECT = { paymentRequestId: PR, providerPaymentId: PY, reference: REFERENCE }

const NO_ID = { providerPaymentId: undefined }
const EXPIRED = { reference_id: REFERENCE, status: 'EXPIRED' }
const OLDER = { id: PY, payment_request_id: PR, reference_id: REFERENCE, amount: '150000' }
const CAPTURE = 'payment.capture'

function each<Data>(events: string, data: Data, subject: unknown) {
  return events.split(/\s+/).map((event) => [event, data, subject] as const)
}

describe('parseCallback (design section 4: a callback says what to ask about)', () => {
  it.each<readonly [event: string, data: unknown, subject: unknown]>([
    ...each(
      `payment.capture payment.failure payment.authorization payment.succeeded
      payment.failed payment.pending`,
      PAYMENT,
      SUBJECT,
    ),
    // In the older shape the id of a payment is `id`, and an expiry has either name.
    ['payment.succeeded', OLDER, SUBJECT],
    ...['payment_request_id', 'id'].flatMap((name) =>
      each(
        'payment_request.expiry payment_request.expired',
        { ...EXPIRED, [name]: PR },
        { ...SUBJECT, ...NO_ID },
      ),
    ),
    ...each('refund.succeeded', undefined, 'money_back'),
    ...each(
      `payment.expiry payment_token.activation payment_session.completed refunds.x
      payment_method.expired PAYMENT.CAPTURE constructor`,
      { ...PAYMENT, id: 'x' },
      undefined,
    ),
    ['', PAYMENT, undefined],
    // Unusable ids and references are left out.
    [CAPTURE, { payment_request_id: PR }, { ...SUBJECT, ...NO_ID, reference: undefined }],
    [
      CAPTURE,
      { payment_id: PY },
      { ...SUBJECT, paymentRequestId: undefined, reference: undefined },
    ],
    [CAPTURE, { ...PAYMENT, payment_id: '../x' }, { ...SUBJECT, ...NO_ID }],
    [CAPTURE, { ...PAYMENT, reference_id: 'x'.repeat(256) }, { ...SUBJECT, reference: undefined }],
    [CAPTURE, { reference_id: REFERENCE }, undefined],
    // A value beside null, under the name of an older version.
    [CAPTURE, { ...PAYMENT, payment_id: null, id: PY }, SUBJECT],
    // The sample of the provider's dashboard has ids of 37 characters, which the provider refuses.
    ...[-2, 1].map(
      (longer) =>
        [
          CAPTURE,
          {
            ...PAYMENT,
            payment_id: PY.padEnd(39 + longer, '0').slice(0, 39 + longer),
            payment_request_id: PR.padEnd(39 + longer, '0').slice(0, 39 + longer),
          },
          undefined,
        ] as const,
    ),
    ...[{}, PY, null].map((data) => [CAPTURE, data, undefined] as const),
  ])('reads %s with %j as %j', (event, data, subject) => {
    expect(parse(event, data)).toStrictEqual(subject)
  })

  it('reads a body that begins with a byte order mark', () => {
    const body = JSON.stringify({ event: CAPTURE, data: PAYMENT })

    expect(parseCallback(`\uFEFF${body}`)).toStrictEqual(SUBJECT)
  })

  const NO_TEXT = Buffer.from([0xff, 0xfe, 0x00]).toString('utf8')
  const NO_EVENT = ['{"event":"payment.capture"}', '{"event":7,"data":{}}']

  it.each(['', '{}', '\uFEFF{}', NO_TEXT, ...NO_EVENT])('finds no subject in %j', (body) => {
    expect(parseCallback(body)).toBeUndefined()
  })
})

const KEY = providerSecretName('test')
const TOKENS = callbackSecretName('test')
const [NEW, OLD] = ['the-new-token-of-tests', 'the-old-token-of-tests'] as const

function depsWith(secrets: Readonly<Record<string, string>>) {
  const deps = testDeps()
  for (const [name, text] of Object.entries(secrets)) deps.secretValues.set(name, text)
  return deps
}

function tokens(...list: readonly unknown[]) {
  return JSON.stringify({ callback_tokens: list })
}

describe('the secrets of a stage', () => {
  it('are one key of the provider, which no other stage reads', async () => {
    const { secrets } = depsWith({ [KEY]: PROVIDER_SECRET })

    expect(await readProviderKey(secrets, 'test')).toBe(PROVIDER_KEY)
    expect(isProviderSecret(PROVIDER_SECRET)).toBe(true)
    await expect(readProviderKey(secrets, 'production')).rejects.toThrow(
      'the secret gateway/production/provider is missing',
    )
  })

  it.each([[[NEW, OLD]], [['sixteen-in-all-1']]])(
    'are one token, or two tokens during an exchange: %j',
    async (list) => {
      const deps = depsWith({ [TOKENS]: tokens(...list) })

      expect(await readCallbackTokens(deps.secrets, 'test')).toStrictEqual(list)
      expect(isCallbackSecret(tokens(...list))).toBe(true)
      for (const token of list) expect(await isCallbackToken(deps, token)).toBe(true)
    },
  )
})

const NO_SECRET = ['a-plain-text-of-tests', '', '{}']
const MALFORMED = {
  provider: [
    ...NO_SECRET,
    ...['', 7, 'xnd_1\nx-injected: 1'].map((key) => JSON.stringify({ secret_key: key })),
  ],
  callback: [
    ...NO_SECRET,
    '{"callback_tokens":"a-plain-token-of-tests"}',
    ...[[], ['fifteen-in-all-'], [NEW, 'short'], [NEW, OLD, NEW], ['with spaces in it']].map(
      (list) => tokens(...list),
    ),
  ],
}

it.each([
  ...MALFORMED.provider.map((text) => [KEY, text, readProviderKey, isProviderSecret] as const),
  ...MALFORMED.callback.map(
    (text) => [TOKENS, text, readCallbackTokens, isCallbackSecret] as const,
  ),
])('the secret %s is refused without quoting it: %j', async (name, text, read, isValid) => {
  const { secrets } = depsWith({ [KEY]: text, [TOKENS]: text })

  const error = await read(secrets, 'test').catch((thrown: unknown) => thrown)

  expect(error).toStrictEqual(new Error(`the secret ${name} is malformed`))
  expect(error).not.toHaveProperty('cause')
  expect(isValid(text)).toBe(false)
})

// Tokens that are nearly right: `fuzz-background.test.ts`. A secret that is not there:
// `api-envelope.test.ts`, 500.
it.each([
  [OLD, true, [undefined]],
  [NEW, true, [undefined, 'fresh']],
  ['a-token-of-a-stranger', false, [undefined, 'fresh']],
  [undefined, false, [undefined]],
  [NEW, true, [undefined, 'fresh'], '{}'],
])(
  'isCallbackToken asks for fresh tokens only where %s is none of those in the cache',
  async (token, accepted, reads, cached = tokens(OLD)) => {
    const get = vi.fn(async (_name: string, fresh?: 'fresh') => (fresh ? tokens(NEW) : cached))

    expect(await isCallbackToken({ ...testDeps(), secrets: { get } }, token)).toBe(accepted)
    expect(get.mock.calls.map(([, fresh]) => fresh)).toStrictEqual(reads)
  },
)

describe('the log line of a call of the provider', () => {
  it.each<[string, CreateAnswer, 0 | 1]>([
    ['a refusal of this payment', { kind: 'refused', code: 'INVALID_VALUE_ERROR' }, 0],
    [
      'a refusal of our account',
      { kind: 'refused', code: 'INVALID_API_KEY', isAccountWide: true },
      1,
    ],
    ['a call that was not carried out', { kind: 'not_executed', reason: 'RATE_LIMIT_EXCEEDED' }, 1],
    ['a call without an answer', { kind: 'unknown', reason: 'timeout' }, 1],
  ])('says whether the provider is in trouble: %s', async (_case, answer, trouble) => {
    const deps = memoryDeps()
    deps.provider.answer('createRequest', answer)

    await loggedProvider(deps.provider, deps).createRequest(aCreateInput(), 1_000)

    const fields = { operation: 'create_request', result: answer.kind, trouble }
    expect(deps.lines).toMatchObject([{ code: 'provider.call_failed', fields }])
  })

  it('says how long a call took, also one for the balance', async () => {
    const deps = memoryDeps()
    deps.provider.before('getBalance', () => deps.clock.sleep(2_000))

    await loggedProvider(deps.provider, deps).getBalance()

    const fields = { operation: 'get_balance', call_ms: 2_000 }
    expect(deps.lines).toMatchObject([{ code: 'provider.called', fields }])
  })

  it.each<[Unanswered['reason'], string | undefined, string]>([
    ['refused', 'API_VALIDATION_ERROR', 'provider.call_refused'],
    ['misconfigured', undefined, 'provider.call_refused'],
    ['unreachable', undefined, 'provider.call_failed'],
    ['rate_limited', undefined, 'provider.call_failed'],
  ])(
    'calls a 4xx answer to a read our mistake, with its code: %s %s',
    async (reason, code, line) => {
      const deps = memoryDeps()
      deps.provider.answer('listTransactions', {
        kind: 'unanswered',
        reason,
        ...(code && { code }),
      })

      await loggedProvider(deps.provider, deps).listTransactions({ limit: 1 }, 1_000)

      const fields = {
        operation: 'list_transactions',
        result: 'unanswered',
        reason,
        code,
        trouble: 1,
      }
      expect(deps.lines).toMatchObject([{ code: line, fields }])
    },
  )
})

it('a refusal names the rate limit when the provider wants no more calls now', () => {
  const message = "the provider's rate limit is reached; try again"

  expect(providerFailure({ reason: 'rate_limited' }, 'try again')).toMatchObject({
    code: 'server_error',
    message,
  })
})
