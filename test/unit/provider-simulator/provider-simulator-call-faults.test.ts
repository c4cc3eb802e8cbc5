import { describe, expect, it } from 'vitest'
import { answerProviderCall } from '../../../infra/local/provider-simulator/provider-api.ts'
import { API_HEADERS, aCore, aRequestBody, SECRET_KEY } from '../../support/provider-simulator-harness.ts'

type Core = ReturnType<typeof aCore>['core']

const call = (core: Core, method: string, path: string, body?: unknown) =>
  answerProviderCall(core, SECRET_KEY, {
    method,
    path,
    query: new URLSearchParams(),
    headers: API_HEADERS,
    body: body === undefined ? '' : JSON.stringify(body),
  })

/** A core with one open and one paid request, and for every target a call that would succeed. */
const arranged = () => {
  const { core } = aCore()
  const open = core.createPaymentRequest(aRequestBody()).payment_request_id
  const paid = core.createPaymentRequest(aRequestBody()).payment_request_id
  core.simulatePayment(paid)
  const paymentId = core.getPaymentRequest(paid).latest_payment_id ?? ''
  const make = (target: string) => {
    switch (target) {
      case 'create':
        return call(core, 'POST', '/v3/payment_requests', aRequestBody())
      case 'get':
        return call(core, 'GET', `/v3/payment_requests/${open}`)
      case 'get (payment)':
        return call(core, 'GET', `/v3/payments/${paymentId}`)
      case 'cancel':
        return call(core, 'POST', `/v3/payment_requests/${open}/cancel`)
      default:
        return call(core, 'GET', '/transactions')
    }
  }
  /** How often the create or the cancel has taken effect. */
  const effects = () =>
    core.findPaymentRequests('').length - 2 + (core.getPaymentRequest(open).status === 'CANCELED' ? 1 : 0)
  return { core, make, effects }
}

const TARGETS = ['create', 'get', 'get (payment)', 'cancel', 'transactions']
const REFUSALS = [
  ['http_500', undefined, 500, 'SERVER_ERROR'],
  ['http_503', undefined, 503, 'CHANNEL_UNAVAILABLE'],
  ['http_429', undefined, 429, 'RATE_LIMIT_EXCEEDED'],
  ['refuse', 'CHANNEL_NOT_ACTIVATED', 403, 'CHANNEL_NOT_ACTIVATED'],
  ['refuse', 'INVALID_API_KEY', 401, 'INVALID_API_KEY'],
  ['refuse', 'DATA_NOT_FOUND', 404, 'DATA_NOT_FOUND'],
  ['refuse', 'TEMPORARILY_UNAVAILABLE', 400, 'TEMPORARILY_UNAVAILABLE'],
] as const

const orderedOn = (name: string, fault: string, value?: unknown) => {
  const { core, make, effects } = arranged()
  core.orderFault({ target: name.split(' ')[0], fault, value })
  return { make: () => make(name), effects }
}

describe.each(TARGETS)('a fault of the provider simulator for target %s', (target) => {
  const success = { kind: 'answer', status: target === 'create' ? 201 : 200 }

  it.each(['timeout', 'timeout_after_commit'])('%s gives no answer, once', (fault) => {
    const { make } = orderedOn(target, fault)

    const answers = [make(), target === 'cancel' && fault === 'timeout_after_commit' ? success : make()]

    expect(answers).toMatchObject([{ kind: 'silence' }, success])
  })

  it.each(REFUSALS)('%s %s is answered with %i %s, once', (fault, value, status, errorCode) => {
    const { make } = orderedOn(target, fault, value)

    const answers = [make(), make()]

    expect(answers).toMatchObject([
      { status, body: { error_code: errorCode, message: expect.any(String) }, delayMs: 0 },
      success,
    ])
  })

  it('slow delays the answer', () => {
    const { make } = orderedOn(target, 'slow', 1500)

    expect(make()).toMatchObject({ ...success, delayMs: 1500 })
  })
})

describe.each(['create', 'cancel'])('the effect of %s under a fault', (target) => {
  it.each(['timeout', 'http_500', 'http_503', 'http_429'])('%s leaves nothing behind', (fault) => {
    const { make, effects } = orderedOn(target, fault)

    make()

    expect(effects()).toBe(0)
  })

  it('refuse leaves nothing behind', () => {
    const { make, effects } = orderedOn(target, 'refuse', 'INVALID_API_KEY')

    make()

    expect(effects()).toBe(0)
  })

  it.each([
    ['timeout_after_commit', undefined],
    ['slow', 1500],
  ])('%s lets it happen', (fault, value) => {
    const { make, effects } = orderedOn(target, fault, value)

    make()

    expect(effects()).toBe(1)
  })
})

describe('the call faults of the provider simulator', () => {
  it('tell the rate limit in the headers of a 429', () => {
    const { make } = orderedOn('create', 'http_429')

    expect(make()).toMatchObject({
      headers: { 'Rate-Limit-Limit': '600', 'Rate-Limit-Remaining': '0', 'Rate-Limit-Reset': expect.any(String) },
    })
  })

  it('strike as often as ordered, then no more, in the order given', () => {
    const { core, make } = arranged()
    core.orderFault({ target: 'get', fault: 'http_500', times: 2 })
    core.orderFault({ target: 'get', fault: 'http_503' })

    const answers = [make('get'), make('get'), make('get (payment)'), make('get')]

    expect(answers).toMatchObject([{ status: 500 }, { status: 500 }, { status: 503 }, { status: 200 }])
  })

  it('leave other targets alone', () => {
    const { core, make } = arranged()
    core.orderFault({ target: 'cancel', fault: 'http_500' })

    expect(make('create')).toMatchObject({ status: 201 })
  })

  it('are not used up by a caller with a wrong key', () => {
    const { core, make } = arranged()
    core.orderFault({ target: 'get', fault: 'http_500' })

    const stranger = answerProviderCall(core, 'another key', {
      method: 'GET',
      path: '/v3/payment_requests/pr-1',
      query: new URLSearchParams(),
      headers: API_HEADERS,
      body: '',
    })

    expect(stranger).toMatchObject({ status: 401 })
    expect(make('get')).toMatchObject({ status: 500 })
  })

  it('are gone after a clear', () => {
    const { core, make } = arranged()
    core.orderFault({ target: 'create', fault: 'timeout', times: 100 })

    core.clearFaults()

    expect(core.armedFaults()).toStrictEqual([])
    expect(make('create')).toMatchObject({ status: 201 })
  })

  it.each([
    [{ target: 'creat', fault: 'timeout' }, 'unknown target: creat; one of create, get, cancel'],
    [{ target: 'create', fault: 'lost' }, 'unknown fault for target create: lost; one of timeout_after_commit'],
    [{ target: 'create', fault: 'constructor' }, 'unknown fault for target create'],
    [{ target: '__proto__', fault: 'timeout' }, 'unknown target'],
    [{ target: 'create', fault: 'slow' }, 'value of slow'],
    [{ target: 'create', fault: 'slow', value: -1 }, 'value of slow'],
    [{ target: 'create', fault: 'refuse' }, 'value of refuse'],
    [{ target: 'create', fault: 'timeout', times: 0 }, 'times'],
    [{ target: 'create', fault: 'timeout', often: 3 }, 'often'],
    [{ target: 'callback', fault: 'delay' }, 'value of delay'],
    [{ target: 'callback', fault: 'duplicate', value: 0 }, 'value of duplicate'],
    [{ target: 'callback', fault: 'forged', value: 'x' }, 'value of forged'],
    [{ target: 'payment', fault: 'wrong_amount' }, 'value of wrong_amount'],
    [{ target: 'transactions', fault: 'fee', value: 1.5 }, 'value of fee'],
    [{ target: 'transactions', fault: 'fee_late', value: 'soon' }, 'value of fee_late'],
    [undefined, 'Invalid type'],
  ])('refuse the order %j', (order, message) => {
    const { core } = aCore()

    expect(() => core.orderFault(order)).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringContaining(message) }),
    )
    expect(core.armedFaults()).toStrictEqual([])
  })
})
