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

const bodyOf = (request: LocalRequest) => parseJson(request.body.toString('utf8'))

/** By method and path; `{id}` is a payment request's. */
const CONTROLS: Readonly<Record<string, ControlCall>> = {
  'GET /_simulator': {
    does: 'lists every control call and every fault, with an example of each',
    run: () => menu(),
  },
  'GET /_simulator/payment_requests': {
    query: 'reference_id=<payment id>',
    does: 'finds payment requests by the start of their reference, oldest first',
    run: (core, request) => core.findPaymentRequests(request.query.get('reference_id') ?? ''),
  },
  'POST /_simulator/payment_requests/{id}/fail': {
    body: { failure_code: 'INSUFFICIENT_BALANCE' },
    does: 'lets the customer fail to pay',
    run: (core, request, id) => core.failPaymentRequest(id, bodyOf(request)),
  },
  'POST /_simulator/payment_requests/{id}/expire': {
    does: 'ends the time to pay now',
    run: (core, _request, id) => core.expirePaymentRequest(id),
  },
  'POST /_simulator/payment_requests/{id}/reverse': {
    body: { kind: 'chargeback', amount: 50_000, fee: 25_000 },
    does: 'lets the money go back: voided or reversed, whole; refund, chargeback (`fee` beside the amount) or chargeback_reversal, of `amount` or whole',
    run: (core, request, id) => core.reversePayment(id, bodyOf(request)),
  },
  'POST /_simulator/transactions': {
    body: { type: 'CHARGEBACK_REVERSAL', status: 'SUCCESS', amount: 100_000, reference_id: 'order 17' },
    does: 'books a row that no payment makes, of any type, status and time',
    run: (core, request) => core.bookTransaction(bodyOf(request)),
  },
  'GET /_simulator/calls': {
    does: 'counts the calls of the provider API, and the rows that its lists handed out',
    run: (core) => core.callCounts(),
  },
  'DELETE /_simulator/calls': {
    does: 'counts from zero again',
    run: (core) => {
      core.resetCalls()
      return core.callCounts()
    },
  },
  'GET /_simulator/faults': {
    does: 'shows the faults that have yet to strike',
    run: (core) => core.armedFaults(),
  },
  'POST /_simulator/faults': {
    body: { target: 'create', fault: 'http_500', times: 2 },
    does: 'arms a fault for the next `times` (1) occasions',
    run: (core, request) => {
      core.orderFault(bodyOf(request))
      return core.armedFaults()
    },
  },
  'DELETE /_simulator/faults': {
    does: 'clears all faults, or with `?target=` and `fault=` those alone',
    run: (core, { query }) => {
      core.clearFaults(Object.fromEntries(query))
      return core.armedFaults()
    },
  },
}

const findControl = routeTable(CONTROLS)

/** What `GET /_simulator` answers: each control call and each fault, as something to send. */
const menu = () => ({
  pay: {
    example: 'POST /v3/payment_requests/{id}/simulate',
    does: 'lets the customer pay (a call of the provider API)',
  },
  controls: Object.entries(CONTROLS).map(([name, { query, body, does }]) => ({
    example: `${name}${query === undefined ? '' : `?${query}`}`,
    ...(body !== undefined && { body }),
    does,
  })),
  faults: faultExamples(),
})

/**
 * The simulator's control surface (design section 6), which the real provider does not have. Answers every call with
 * what the JSON body is to be; throws `ProviderError` for a refused one.
 */
export const answerControlCall = (core: SimulatorCore, request: LocalRequest): unknown => {
  const found = findControl(request.method, request.path.replace(/\/$/, ''))
  if (found) return found.entry.run(core, request, found.pathParameters['id'] ?? '')
  throw new ProviderError(
    'DATA_NOT_FOUND',
    `no control call ${request.method} ${request.path}; GET /_simulator lists them`,
  )
}
