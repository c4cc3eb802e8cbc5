import { expect, it } from 'vitest'
import { handler as receiveCallback } from '../../../functions/callback/receive-provider-callback.ts'
import { loggedProvider } from '../../../shared/provider/logged-provider.ts'
import { joiningLog } from '../../../shared/runtime/json-log.ts'
import { callbackSecretName } from '../../../shared/secrets.ts'
import { API, anApiClient, aPaymentBody, call } from '../../support/api-event.ts'
import { memoryDeps } from '../../support/memory-deps.ts'

const CALLBACK = { route: 'POST /callbacks/xendit', handler: receiveCallback }
const TOKEN = 'a-token-of-tests'

/** A gateway with the deployed log, and the provider's calls logged as they are on AWS. */
const aLoggedGateway = () => {
  const lines: object[] = []
  const log = joiningLog((_, code, line) => {
    lines.push({ code, ...line })
  })
  const own = memoryDeps({ log })
  own.secretValues.set(callbackSecretName('test'), JSON.stringify({ callback_tokens: [TOKEN] }))
  return { deps: { ...own, provider: { ...own.provider, ...loggedProvider(own.provider, own) } }, lines }
}

it('a create, a callback that credits and a cancel write one line each (design: one log line a request)', async () => {
  const { deps, lines } = aLoggedGateway()
  const caller = await anApiClient(deps)
  const create = async () => (await call(deps, API.createPayment, { caller, body: aPaymentBody() })).body
  const paid = await create()
  const [payment_request_id = ''] = deps.provider.requests.keys()
  const reference_id = `${String(paid['id'])}-1`
  const data = {
    payment_id: deps.provider.pay(payment_request_id),
    payment_request_id,
    reference_id,
    status: 'SUCCEEDED',
  }
  const headers = { 'x-callback-token': TOKEN }

  await call(deps, CALLBACK, { body: { event: 'payment.capture', data }, headers })
  await call(deps, API.cancelPayment, { caller, id: String((await create())['id']) })

  const created = { code: 'request.completed', status: 201, outcomes: 'provider.called payment.created' }
  expect(lines).toMatchObject([
    { ...created, payment_id: paid['id'], operation: 'create_request' },
    { code: 'request.completed', status: 200, outcomes: 'provider.called payment.succeeded', payment_id: paid['id'] },
    created,
    { code: 'request.completed', status: 200, outcomes: 'provider.called payment.cancelled' },
  ])
})
