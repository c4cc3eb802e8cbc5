import * as v from 'valibot'
import type { FunctionHost } from '../functions/function-host.ts'
import { jsonReply, type LocalRequest } from '../process/local-http-server.ts'
import { routeTable } from '../process/route-table.ts'
import { askProvider, type TestEnvironment } from './test-environment.ts'

const Shown = v.object({
  status: v.literal(200),
  body: v.object({
    status: v.string(),
    payment_request_id: v.string(),
    external_reference: v.optional(v.string()),
  }),
})
const Request = v.object({ request_amount: v.number() })

const NO_CONTROLS = jsonReply(404, {
  message:
    "the provider's test mode has no controls and no faults; a customer can only pay. " +
    'Start the gateway without --provider for them',
})

const findCall = routeTable<'find' | 'pay'>({
  'GET /_simulator/payment_requests': 'find',
  'POST /v3/payment_requests/{id}/simulate': 'pay',
})

/**
 * PORT+2 for the test mode: what `npm run pay` and the console ask of the simulator, as far as the
 * test mode has it. The provider's key stays in this process.
 */
export function answerCustomer(
  environment: TestEnvironment,
  ready: Promise<{ readonly host: Pick<FunctionHost, 'byName'> }>,
) {
  return async (request: LocalRequest) => {
    const { entry, pathParameters } = findCall(request.method, request.path) ?? {}
    switch (entry) {
      case 'find':
        return findRequest((await ready).host, request.query.get('reference_id') ?? '')
      case 'pay':
        return simulate(environment, `/v3/payment_requests/${pathParameters?.['id'] ?? ''}`)
      case undefined:
        return NO_CONTROLS
    }
  }
}

/** The provider has no search by reference. */
async function findRequest(host: Pick<FunctionHost, 'byName'>, paymentId: string) {
  const answer = await host.byName('gateway-local-get-payment')?.invoke({ payment_id: paymentId })
  const shown = v.safeParse(Shown, answer)
  if (!shown.success) return jsonReply(200, [])
  const { status, payment_request_id } = shown.output.body
  const isOpen = status === 'pending'
  return jsonReply(200, [
    { payment_request_id, status: isOpen ? 'REQUIRES_ACTION' : status.toUpperCase() },
  ])
}

/** The provider needs the amount, which a customer sees at the bank. */
async function simulate(environment: TestEnvironment, path: string) {
  const found = await askProvider(environment, { path })
  const request = found.kind === 'answered' ? v.safeParse(Request, found.json) : undefined
  const outcome = request?.success
    ? await askProvider(environment, {
        method: 'POST',
        path: `${path}/simulate`,
        body: { amount: request.output.request_amount },
      })
    : found
  return outcome.kind === 'answered'
    ? jsonReply(outcome.status, outcome.json ?? {})
    : jsonReply(502, { message: `the provider did not answer: ${outcome.reason}` })
}
