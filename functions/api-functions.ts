import { allAccess, type TableAccess } from '../shared/table/access.ts'
import type { FunctionSpec } from './function-spec.ts'
import {
  type Access,
  ASKS_PROVIDER,
  BOTH_LANES,
  CALLS_PROVIDER_SECONDS,
  DEFAULTS,
  ONLY_WAITS,
} from './function-spec.ts'
import {
  BALANCE,
  FOUND_PAYMENTS,
  JOURNAL_READ,
  listed,
  NEWS,
  NEWS_OF_VISIBLE,
  OWN_DELIVERIES,
  OWN_DELIVERY,
  REDELIVERING_SINCE,
  ROUNDS,
} from './table-access.ts'

const api = (
  file: string,
  route: `${'GET' | 'POST'} /${string}`,
  table: TableAccess,
  access: Access = {},
): FunctionSpec => {
  const [method, path = ''] = route.split(' ')
  return {
    ...DEFAULTS,
    name: `api-${file}`,
    entry: `functions/api/${file}.ts`,
    trigger: { kind: 'http', method: method === 'GET' ? 'GET' : 'POST', path },
    // Every request reads its key and its client once, and counts against the rate limit.
    table: allAccess({ BatchGetItem: ['APIKEY', 'CLIENT'], UpdateItem: ['RATE'] }, table),
    ...access,
  }
}

const LOOKUP = { lookup: true, reservedConcurrency: 5 } as const

/** The functions that answer merchants' requests. */
export const API_FUNCTIONS: readonly FunctionSpec[] = [
  api('create-payment', 'POST /v1/payments', allAccess(NEWS, { UpdateItem: ['QUOTA'] }), {
    ...ONLY_WAITS,
    ...ASKS_PROVIDER,
    sends: BOTH_LANES,
    payerDefaults: true,
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  }),
  api(
    'list-payments',
    'GET /v1/payments',
    allAccess(BALANCE, FOUND_PAYMENTS, listed('PAYMENT', 'by-owner', 'by-status')),
  ),
  api('get-payment', 'GET /v1/payments/{id}', { GetItem: ['PAYMENT'] }),
  api('cancel-payment', 'POST /v1/payments/{id}/cancel', NEWS_OF_VISIBLE, {
    ...ASKS_PROVIDER,
    sends: BOTH_LANES,
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  }),
  api('get-balance', 'GET /v1/balance', BALANCE),
  api(
    'list-balance-entries',
    'GET /v1/balance/entries',
    allAccess(JOURNAL_READ, listed('SETTLEMENT', 'by-owner')),
    LOOKUP,
  ),
  api('list-settlements', 'GET /v1/settlements', listed('SETTLEMENT', 'by-owner')),
  api('get-settlement', 'GET /v1/settlements/{id}', { GetItem: ['SETTLEMENT'] }),
  api(
    'list-settlement-payments',
    'GET /v1/settlements/{id}/payments',
    allAccess(JOURNAL_READ, { GetItem: ['SETTLEMENT'] }),
    LOOKUP,
  ),
  api('list-webhook-endpoints', 'GET /v1/webhook_endpoints', { QueryFields: ['ENDPOINTS'] }, LOOKUP),
  api('list-webhook-deliveries', 'GET /v1/webhook_deliveries', OWN_DELIVERIES, LOOKUP),
  api('get-webhook-delivery', 'GET /v1/webhook_deliveries/{id}', OWN_DELIVERY, LOOKUP),
  api('redeliver-webhook', 'POST /v1/webhook_deliveries/{id}/redeliver', allAccess(OWN_DELIVERY, ROUNDS), {
    ...LOOKUP,
    sends: BOTH_LANES,
    alerts: true,
  }),
  api('redeliver-to-endpoint', 'POST /v1/webhook_endpoints/{id}/redeliver', REDELIVERING_SINCE, {
    ...LOOKUP,
    sends: BOTH_LANES,
    alerts: true,
    // It may start a hundred rounds, one after the other.
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  }),
  // Events are in the partitions of their payments. The ledger holds the number of partitions.
  api('list-events', 'GET /v1/events', allAccess({ GetItem: ['LEDGER'] }, listed('PAYMENT', 'by-owner')), LOOKUP),
  {
    ...DEFAULTS,
    name: 'api-not-found',
    entry: 'functions/api/not-found.ts',
    trigger: { kind: 'http-default' },
    table: {},
    // It reads nothing. Less memory would only slow its cold start.
    memoryMb: 256,
  },
]
