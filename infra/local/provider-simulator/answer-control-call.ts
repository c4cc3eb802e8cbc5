import type { LocalRequest } from '../process/local-http-server.ts'
import { routeTable } from '../process/route-table.ts'
import { faultExamples } from './faults.ts'
import { ProviderError, parseJson } from './provider-error.ts'
import type { SimulatorCore } from './simulator-core.ts'

type ControlCall = {
  readonly does: string
  readonly query?: string
  readonly body?: unknown
  readonly run: (core: SimulatorCore, request: LocalRequest, id: string) => unknown
}

/** `{id}` is the id of a payment request. */
const CONTROLS: Readonly<Record<string, ControlCall>> = {
  'GET /_simulator': {
    does: 'lists every control call and every fault, with an example of each',
    run: () => examples(),
  },
  'GET /_simulator/payment_requests': {
    query: 'reference_id=<payment id>',
    does: 'finds payment requests whose reference starts with the text, oldest first',
    run: (core, request) => core.findPaymentRequests(request.query.get('reference_id') ?? ''),
  },
  'POST /_simulator/payment_requests/{id}/fail': {
    body: { failure_code: 'INSUFFICIENT_BALANCE' },
    does: 'makes the payment fail',
    run: (core, request, id) => core.failPaymentRequest(id, bodyOf(request)),
  },
  'POST /_simulator/payment_requests/{id}/expire': {
    does: 'expires the payment request now',
    run: (core, _request, id) => core.expirePaymentRequest(id),
  },
  'POST /_simulator/payment_requests/{id}/reverse': {
    body: { kind: 'chargeback', amount: 50_000, fee: 25_000 },
    does:
      'reverses the payment. voided and reversed take the whole amount; refund, chargeback ' +
      '(with its `fee`) and chargeback_reversal take `amount`, by default the whole. A ' +
      'chargeback with `deducted` "monthly" has no row; dispute_lost only tells of the end. ' +
      'With `named_by` payment, request or reference the row has other ids of its own',
    run: (core, request, id) => core.reversePayment(id, bodyOf(request)),
  },
  'POST /_simulator/transactions': {
    body: {
      type: 'CHARGEBACK_REVERSAL',
      cashflow: 'MONEY_IN',
      amount: 100_000,
      reference_id: 'order 17',
    },
    does: 'adds a row without a payment, of any type, status and time',
    run: (core, request) => core.bookTransaction(bodyOf(request)),
  },
  'POST /_simulator/disputes/deduct': {
    does: 'deducts all disputes that have no row yet in one row without an id, as once a month',
    run: (core) => core.deductDisputes(),
  },
  'GET /_simulator/account': {
    does: 'shows the limit of calls a minute, and the permissions of the key',
    run: (core) => core.account(),
  },
  'POST /_simulator/account': {
    body: { calls_per_minute: 600, permissions: ['money_in', 'transactions', 'money_out'] },
    does:
      'sets the limit of calls a minute of each endpoint (null: none, the default), and the ' +
      'permissions of the key',
    run: (core, request) => core.setAccount(bodyOf(request)),
  },
  'GET /_simulator/calls': {
    does: 'shows how many calls the provider API received, and how many rows its lists returned',
    run: (core) => core.callCounts(),
  },
  'DELETE /_simulator/calls': {
    does: 'resets the counts to zero',
    run: (core) => {
      core.resetCalls()
      return core.callCounts()
    },
  },
  'GET /_simulator/faults': { does: 'shows the armed faults', run: (core) => core.armedFaults() },
  'POST /_simulator/faults': {
    body: { target: 'create', fault: 'http_500', times: 2 },
    does: 'arms a fault for its next `times` uses (default: 1)',
    run: (core, request) => {
      core.orderFault(bodyOf(request))
      return core.armedFaults()
    },
  },
  'DELETE /_simulator/faults': {
    does: 'clears all faults; with `?target=`, `?fault=` or both, only the matching ones',
    run: (core, { query }) => {
      core.clearFaults(Object.fromEntries(query))
      return core.armedFaults()
    },
  },
}

const findControl = routeTable(CONTROLS)

/**
 * The real provider has no such call (design section 6). Returns the JSON of the answer. Throws
 * `ProviderError` if the call is refused.
 */
export function answerControlCall(core: SimulatorCore, request: LocalRequest) {
  const route = findControl(request.method, request.path.replace(/\/$/, ''))
  if (route) return route.entry.run(core, request, route.pathParameters['id'] ?? '')
  throw new ProviderError(
    'DATA_NOT_FOUND',
    `no control call ${request.method} ${request.path}; GET /_simulator lists them`,
  )
}

function bodyOf(request: LocalRequest) {
  return parseJson(request.body.toString('utf8'))
}

function examples() {
  return {
    pay: {
      example: 'POST /v3/payment_requests/{id}/simulate',
      does: 'pays the payment request (a call of the provider API)',
    },
    controls: Object.entries(CONTROLS).map(([name, { query, body, does }]) => ({
      example: `${name}${query === undefined ? '' : `?${query}`}`,
      ...(body !== undefined && { body }),
      does,
    })),
    faults: faultExamples(),
  }
}
