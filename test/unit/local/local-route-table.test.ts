import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { routeTable } from '../../../infra/local/triggers/route-table.ts'

const match = routeTable(MANIFEST.map((spec) => ({ spec })))

const found = (method: string, path: string) => {
  const route = match(method, path)
  return [route?.target.spec.name, route?.routeKey, route?.pathParameters]
}

describe('routes of the manifest', () => {
  it.each([
    ['POST', '/v1/payments', ['api-create-payment', 'POST /v1/payments', {}]],
    ['GET', '/v1/payments', ['api-list-payments', 'GET /v1/payments', {}]],
    ['GET', '/v1/payments/abc', ['api-get-payment', 'GET /v1/payments/{id}', { id: 'abc' }]],
    ['POST', '/v1/payments/a%2Fb/cancel', ['api-cancel-payment', 'POST /v1/payments/{id}/cancel', { id: 'a/b' }]],
    ['POST', '/callbacks/xendit', ['receive-provider-callback', 'POST /callbacks/xendit', {}]],
  ])('leads %s %s to its function', (method, path, expected) => {
    expect(found(method, path)).toStrictEqual(expected)
  })

  it.each([
    ['DELETE', '/v1/payments'],
    ['HEAD', '/v1/payments'],
    ['GET', '/v1/Payments'],
    ['get', '/v1/payments'],
    ['GET', '/v1/payments/'],
    ['GET', '/v1/payments//'],
    ['POST', '/v1/payments//cancel'],
    ['GET', '/v1/payments/a/b'],
    ['GET', '//v1/payments'],
    ['GET', '/'],
    ['OPTIONS', '*'],
    ['GET', ''],
  ])('leads %s %s to the default route', (method, path) => {
    expect(found(method, path)).toStrictEqual(['api-not-found', '$default', {}])
  })

  it('hands on a segment with a broken escape as it was sent', () => {
    expect(found('GET', '/v1/payments/%zz')).toStrictEqual(['api-get-payment', 'GET /v1/payments/{id}', { id: '%zz' }])
  })
})
