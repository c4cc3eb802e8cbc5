import { describe, expect, it } from 'vitest'
import { answerProviderCall } from '../../../infra/local/provider-simulator/answer-provider-call.ts'
import { API_HEADERS, aCore, aRequestBody, SECRET_KEY } from '../../support/provider-simulator-harness.ts'

/** A core with one open and one paid request, and for every target a call that would succeed. */
const arranged = (...fault: readonly [target?: string, fault?: string, value?: unknown]) => {
  const { core, create, pay, statusOf, order } = aCore()
  const open = create()
  const calls: Readonly<Record<string, readonly [method: string, path: string, body?: string]>> = {
    create: ['POST', '/v3/payment_requests', JSON.stringify(aRequestBody())],
    get: ['GET', `/v3/payment_requests/${open}`],
    'get (payment)': ['GET', `/v3/payments/${pay()}`],
    cancel: ['POST', `/v3/payment_requests/${open}/cancel`],
  }
  const make = (name = '', key = SECRET_KEY) => {
    const [method, path, body = ''] = calls[name] ?? ['GET', '/transactions']
    return answerProviderCall(core, key, { method, path, body, query: new URLSearchParams(), headers: API_HEADERS })
  }
  const [target, name = '', value] = fault
  if (target !== undefined) order(target.split(' ')[0] ?? '', name, value)
  return {
    core,
    order,
    make: (other = target, key?: string) => make(other, key),
    /** How often the create or the cancel has taken effect. */
    effects: () => core.findPaymentRequests('').length - 2 + (statusOf(open) === 'CANCELED' ? 1 : 0),
  }
}

describe.each(['create', 'get', 'get (payment)', 'cancel', 'transactions'])('a call fault for target %s', (target) => {
  const success = { kind: 'answer', status: target === 'create' ? 201 : 200, delayMs: 0 }
  const refusal = (status: number, errorCode: string) => ({
    ...success,
    status,
    body: { error_code: errorCode, message: expect.any(String) },
  })

  it.each([
    ['timeout', undefined, { kind: 'silence' }, 0],
    ['timeout_after_commit', undefined, { kind: 'silence' }, 1],
    ['http_500', undefined, refusal(500, 'SERVER_ERROR'), 0],
    ['http_503', undefined, refusal(503, 'CHANNEL_UNAVAILABLE'), 0],
    ['http_429', undefined, refusal(429, 'RATE_LIMIT_EXCEEDED'), 0],
    ['refuse', 'CHANNEL_NOT_ACTIVATED', refusal(403, 'CHANNEL_NOT_ACTIVATED'), 0],
    ['refuse', 'INVALID_API_KEY', refusal(401, 'INVALID_API_KEY'), 0],
    ['refuse', 'DATA_NOT_FOUND', refusal(404, 'DATA_NOT_FOUND'), 0],
    ['refuse', 'TEMPORARILY_UNAVAILABLE', refusal(400, 'TEMPORARILY_UNAVAILABLE'), 0],
    ['slow', 1500, { ...success, delayMs: 1500 }, 1],
  ])('%s %s strikes once, with the answer %j, after %i effects', (fault, value, answer, times) => {
    const { make, effects } = arranged(target, fault, value)

    const struck = make()
    const happened = effects()
    const next = make()

    expect(struck).toMatchObject(answer)
    expect(happened).toBe(target === 'create' || target === 'cancel' ? times : 0)
    expect(next).toMatchObject(target === 'cancel' && times === 1 ? { status: 400 } : success)
  })
})

describe('the call faults of the provider simulator', () => {
  it('strike as often as ordered, then no more, in the order given', () => {
    const { order, make } = arranged()
    order('get', 'http_500', undefined, 2)
    order('get', 'http_503')

    const answers = [make('get'), make('get'), make('get (payment)'), make('get')]

    expect(answers).toMatchObject([{ status: 500 }, { status: 500 }, { status: 503 }, { status: 200 }])
  })

  it('leave other targets alone', () => {
    expect(arranged('cancel', 'http_500').make('create')).toMatchObject({ status: 201 })
  })

  it('are not used up by a caller with a wrong key', () => {
    const { make } = arranged('get', 'http_500')

    expect([make('get', 'another key'), make('get')]).toMatchObject([{ status: 401 }, { status: 500 }])
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
