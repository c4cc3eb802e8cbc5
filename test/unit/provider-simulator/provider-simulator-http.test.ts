import { describe, expect } from 'vitest'
import { API_HEADERS, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

describe('the HTTP face of the provider simulator', () => {
  const { authorization, 'api-version': version } = API_HEADERS
  const ofOther = `Basic ${btoa('xnd_development_other:')}`

  it.for<[string, string, object, number]>([
    ['no key', '/transactions', { 'api-version': version }, 401],
    ['another key', '/v3/payments/py-1', { 'api-version': version, authorization: ofOther }, 401],
    ['another version', '/v3/payments/py-1', { authorization, 'api-version': '2019-01-01' }, 400],
    ['no version where none is demanded', '/transactions', { authorization }, 200],
  ])('answers %s to %s', async ([, path, headers, status], { running: { call } }) => {
    expect((await call('GET', path, undefined, headers)).status).toBe(status)
  })

  const CREATE = 'POST /v3/payment_requests'

  it.for<[status: number, route: string, body?: string]>([
    [404, 'GET /v3/payment_requests/pr-none'],
    [404, 'POST /v3/payment_requests/pr-none/cancel'],
    [404, 'GET /v3/payments/py-none'],
    [404, 'GET /v3/payment_requests'],
    [404, 'GET /v3/payments/%E0%A4%A'],
    [404, 'POST /_simulator/payment_requests/pr-none/expire'],
    [400, CREATE, '{"reference_id": '],
    [400, CREATE, '{"__proto__": {"reference_id": "x"}}'],
    [413, CREATE, 'x'.repeat(1024 * 1024 + 1)],
  ])('answers %i in the form of an error to %s %.40s', async ([status, route, body], { running: { call } }) => {
    const [method = '', path = ''] = route.split(' ')
    const code = { 400: 'API_VALIDATION_ERROR', 404: 'DATA_NOT_FOUND' }[status]

    const answer = await call(method, path, body)

    expect(answer).toMatchObject({ status, body: { ...(code && { error_code: code }), message: expect.any(String) } })
  })
})
