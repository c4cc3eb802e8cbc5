import { expect, it } from 'vitest'
import type { Provider, TransactionFilter } from '../../../shared/provider/provider.ts'
import { timestampOf } from '../../../shared/time.ts'
import { aCreateInput, createdAnswer, scriptedProvider } from '../../support/scripted-provider.ts'
import { json } from '../../support/scripted-server.ts'
import FACTS from './facts.json' with { type: 'json' }
import { CHANNEL_FACTS, type ChannelFacts, REQUESTS, violationsOf } from './provider-facts.ts'

const PR = 'pr-73762759-0c9b-8178-b48f-0480d694b643'
const PY = 'py-4e0209e9-67a2-449a-9748-57df6a8bddad'

const DAY = timestampOf(Date.UTC(2026, 10, 20))
const SPAN = { updatedFrom: DAY, updatedTo: DAY }

type Ask = (provider: Provider) => Promise<unknown>
type Question = readonly [keyof typeof REQUESTS, string, Ask]

function createChannel({ method, channelCode }: ChannelFacts): Ask {
  const channelFields =
    method === 'virtual_account'
      ? { expiresAt: DAY, description: 'Kopi Ú' }
      : { description: undefined }
  const input = aCreateInput({ method, channelCode, phone: '+6281234567890', ...channelFields })
  return (provider) => provider.createRequest(input, 5_000)
}
function listFor(filter: TransactionFilter): Ask {
  return (provider) => provider.listTransactions(filter)
}

it.for<Question>([
  ...CHANNEL_FACTS.map(
    (channel): Question => ['create', channel.providerCode, createChannel(channel)],
  ),
  ['getRequest', 'by id', (provider) => provider.getRequest(PR)],
  ['getPayment', 'by id', (provider) => provider.getPayment(PY)],
  ['cancel', 'by id', (provider) => provider.cancelRequest(PR)],
  ['balance', 'of the cash account', (provider) => provider.getBalance()],
  ['transactions', 'of one payment', listFor({ providerPaymentId: PY, limit: 10 })],
  ['transactions', 'of one reference', listFor({ reference: 'ref-1', limit: 50 })],
  [
    'transactions',
    'of a span, all types',
    listFor({ ...SPAN, rows: 'all', afterId: 'txn_1', limit: 50 }),
  ],
])('we send each request as the provider documents it: %s, %s', async ([name, , ask]) => {
  const facts = REQUESTS[name]
  const { provider, server } = await scriptedProvider(json(500, {}))

  await ask(provider)

  const [request, secondRequest] = server.requests
  if (!request || secondRequest) throw new Error('the provider did not receive exactly one request')
  const { method, url, headers, body } = request
  const { pathname, searchParams } = new URL(url, 'https://api.provider.example')
  expect(method).toBe(facts.method)
  expect(pathname).toMatch(facts.path)
  expect(violationsOf(facts.headers, headers)).toStrictEqual([])
  expect(violationsOf(facts.query, Object.fromEntries(searchParams))).toStrictEqual([])
  expect(violationsOf(facts.body, body === '' ? '' : JSON.parse(body))).toStrictEqual([])
})

/** The front-end SDK of March 2026, behaviour tree. Deep links: `xendit-create.test.ts`. */
it.each([
  ['OVO', 'REQUIRES_ACTION'],
  ['OVO', 'PENDING'],
  ['JENIUSPAY', 'REQUIRES_ACTION'],
])('a push by %s answers %s without actions', async (channelCode, status) => {
  const input = aCreateInput({ method: 'ewallet', channelCode, phone: '+6281234567890' })
  const { provider } = await scriptedProvider(createdAnswer({ actions: [], status }))

  expect(await provider.createRequest(input, 5_000)).toMatchObject({
    kind: 'created',
    request: { status: 'open', destination: undefined },
  })
})

type Operation = keyof typeof FACTS.operations
type Table = {
  readonly ask: (provider: Provider) => Promise<{ readonly kind: string }>
  readonly meanings: Readonly<Record<string, string>>
}

const READ = 'DATA_NOT_FOUND'
const NO_ANSWER = `API_VALIDATION_ERROR FEATURE_NOT_AVAILABLE INVALID_API_KEY REQUEST_FORBIDDEN_ERROR
  RATE_LIMIT_EXCEEDED SERVER_ERROR`

const TABLES: Readonly<Record<Operation, Table>> = {
  create: {
    ask: (provider) => provider.createRequest(aCreateInput(), 5_000),
    meanings: {
      refused: `API_VALIDATION_ERROR INVALID_VALUE_ERROR INVALID_PAYMENT_DETAILS INVALID_TOKEN
        CARD_EXPIRED INVALID_API_KEY REQUEST_FORBIDDEN_ERROR INVALID_MERCHANT_SETTINGS
        ACCOUNT_ACCESS_BLOCKED SKIP_3DS_FORBIDDEN DATA_NOT_FOUND`,
      not_executed: 'PAYMENT_REQUEST_RATE_LIMITED RATE_LIMIT_EXCEEDED',
      unknown: 'DUPLICATE_ERROR SERVER_ERROR CHANNEL_UNAVAILABLE ISSUER_UNAVAILABLE',
    },
  },
  cancel: {
    ask: (provider) => provider.cancelRequest('pr-'.padEnd(39, '0')),
    meanings: {
      final: 'INACTIVE_PAYMENT_REQUEST',
      not_found: 'DATA_NOT_FOUND',
      unanswered: `INELIGIBLE_TRANSACTION_STATUS TEMPORARILY_UNAVAILABLE CHANNEL_UNAVAILABLE
        ${NO_ANSWER}`,
    },
  },
  getRequest: {
    ask: (provider) => provider.getRequest('pr-'.padEnd(39, '0')),
    meanings: { not_found: READ, unanswered: NO_ANSWER },
  },
  getPayment: {
    ask: (provider) => provider.getPayment('py-'.padEnd(39, '0')),
    meanings: { not_found: READ, unanswered: NO_ANSWER },
  },
  transactions: {
    ask: (provider) => provider.listTransactions({ limit: 1, rows: 'all' }),
    meanings: { unanswered: NO_ANSWER },
  },
  balance: { ask: (provider) => provider.getBalance(), meanings: { unanswered: NO_ANSWER } },
}

const CASES = Object.entries(FACTS.operations).flatMap(([operation, { errors }]) =>
  Object.entries(errors).flatMap(([status, codes]) =>
    codes.map((code) => [operation as Operation, Number(status), code] as const),
  ),
)

it.each(CASES)('%s is read by %i %s', async (operation, status, error_code) => {
  const { ask, meanings } = TABLES[operation]
  const { provider } = await scriptedProvider(json(status, { error_code, message: 'x' }))

  const answer = await ask(provider)

  const [meaning] =
    Object.entries(meanings).find(([, codes]) => codes.split(/\s+/).includes(error_code)) ?? []
  // A duplicate proves nothing, whatever its code is.
  expect(answer.kind).toBe(operation === 'create' && status === 409 ? 'unknown' : meaning)
})
