import { expect, it } from 'vitest'
import type { Provider } from '../../../shared/provider/provider.ts'
import { aCreateInput, scriptedProvider } from '../../support/scripted-provider.ts'
import { json } from '../../support/scripted-server.ts'
import FACTS from './facts.json' with { type: 'json' }

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
      not_cancellable: 'INELIGIBLE_TRANSACTION_STATUS',
      not_found: 'DATA_NOT_FOUND',
      unanswered: `TEMPORARILY_UNAVAILABLE CHANNEL_UNAVAILABLE ${NO_ANSWER}`,
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
    ask: (provider) => provider.listTransactions({ limit: 1, allTypes: true }),
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
