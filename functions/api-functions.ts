import { allAccess, type TableAccess } from '../shared/table/access.ts'
import {
  type Access,
  ASKS_PROVIDER,
  BOTH_LANES,
  CALLS_PROVIDER_SECONDS,
  DEFAULTS,
  type FunctionSpec,
  LOW_MEMORY,
} from './function-spec.ts'
import {
  BALANCE,
  BULK_REDELIVERING,
  ENDPOINTS_HEALTH,
  JOURNAL_READ,
  listOf,
  NEWS,
  NEWS_OF_VISIBLE_PAYMENT,
  OWN_DELIVERIES,
  OWN_DELIVERY,
  OWN_STATEMENT,
  PAUSES,
  PAYMENT_SEARCH,
  PUSHING,
  ROUNDS,
} from './table-access.ts'

const [get, post] = [routeOf('GET'), routeOf('POST')]

const LOOKUP = { lookup: true, reservedConcurrency: 5 } as const

export const API_FUNCTIONS: readonly FunctionSpec[] = [
  post('/v1/payments', 'create-payment', allAccess(NEWS, PAUSES, PUSHING), {
    ...LOW_MEMORY,
    ...ASKS_PROVIDER,
    sends: BOTH_LANES,
    payerDefaults: true,
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  }),
  get(
    '/v1/payments',
    'list-payments',
    allAccess(BALANCE, PAYMENT_SEARCH, listOf('PAYMENT', 'by-owner', 'by-status')),
  ),
  get('/v1/payments/{id}', 'get-payment', { GetItem: ['PAYMENT'] }),
  post('/v1/payments/{id}/cancel', 'cancel-payment', NEWS_OF_VISIBLE_PAYMENT, {
    ...ASKS_PROVIDER,
    sends: BOTH_LANES,
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  }),
  get('/v1/balance', 'get-balance', BALANCE),
  get(
    '/v1/balance/entries',
    'list-balance-entries',
    allAccess(JOURNAL_READ, { GetItem: ['LEDGER'], indexes: ['by-owner'] }),
    LOOKUP,
  ),
  get('/v1/statement', 'get-statement', OWN_STATEMENT, { ...LOOKUP, alerts: true }),
  get('/v1/settlements', 'list-settlements', listOf('SETTLEMENT', 'by-owner')),
  get('/v1/settlements/{id}', 'get-settlement', { GetItem: ['SETTLEMENT'] }),
  get(
    '/v1/settlements/{id}/payments',
    'list-settlement-payments',
    allAccess(JOURNAL_READ, { GetItem: ['SETTLEMENT'] }),
    LOOKUP,
  ),
  get('/v1/webhook_endpoints', 'list-webhook-endpoints', ENDPOINTS_HEALTH, LOOKUP),
  get('/v1/webhook_deliveries', 'list-webhook-deliveries', OWN_DELIVERIES, LOOKUP),
  get('/v1/webhook_deliveries/{id}', 'get-webhook-delivery', OWN_DELIVERY, LOOKUP),
  post(
    '/v1/webhook_deliveries/{id}/redeliver',
    'redeliver-webhook',
    allAccess(OWN_DELIVERY, ROUNDS),
    { ...LOOKUP, sends: BOTH_LANES, alerts: true },
  ),
  post('/v1/webhook_endpoints/{id}/redeliver', 'redeliver-to-endpoint', BULK_REDELIVERING, {
    ...LOOKUP,
    sends: BOTH_LANES,
    alerts: true,
    // A call may start a hundred rounds, one after the other.
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  }),
  get('/v1/events', 'list-events', listOf('EVENT', 'by-owner'), LOOKUP),
  {
    ...DEFAULTS,
    name: 'api-not-found',
    entry: 'functions/api/not-found.ts',
    trigger: { kind: 'http-default' },
    table: {},
    // This function reads nothing. Less memory would only slow its cold start.
    memoryMb: 256,
  },
]

function routeOf(method: 'GET' | 'POST') {
  return (path: string, file: string, table: TableAccess, access: Access = {}): FunctionSpec => ({
    ...DEFAULTS,
    name: `api-${file}`,
    entry: `functions/api/${file}.ts`,
    trigger: { kind: 'http', method, path },
    // Every request reads its key and its client once, without bank details, and counts against the
    // rate limit.
    table: allAccess({ BatchGetFields: ['APIKEY', 'CLIENT'], UpdateItem: ['RATE'] }, table),
    ...access,
  })
}
