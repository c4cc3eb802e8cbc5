import type { ConsoleCall } from '../console-call.ts'
import { merchant } from './session.ts'

/** The console's name as operator. */
const OPERATOR = 'console'

const asMerchant = () => ({ port: 'api', apiKey: merchant().api_key }) as const

export const api = (path: string): ConsoleCall => ({ ...asMerchant(), method: 'GET', path: `/v1/${path}` })

export const apiPost = (path: string, body: object, idempotencyKey?: string): ConsoleCall => ({
  ...asMerchant(),
  method: 'POST',
  path: `/v1/${path}`,
  body,
  ...(idempotencyKey !== undefined && { idempotencyKey }),
})

/** Invokes any function, as the AWS CLI does. */
export const invoke = (name: string, payload: object = {}): ConsoleCall => ({
  port: 'lambda',
  method: 'POST',
  path: `/2015-03-31/functions/gateway-local-${name}/invocations`,
  body: payload,
})

/** An operator's action, in the console's name. */
export const operate = (action: string, payload: object): ConsoleCall =>
  invoke(action, { operator: OPERATOR, ...payload })

export const withClientId = (payload: object = {}): object => ({ client_id: merchant().client_id, ...payload })

export const jumpBy = (seconds: number): ConsoleCall => ({
  port: 'lambda',
  method: 'POST',
  path: '/_local/clock',
  body: { advance_seconds: seconds },
})

export const simulator = (path: string, body?: object, method: ConsoleCall['method'] = 'POST'): ConsoleCall => ({
  port: 'provider',
  method,
  path: `/_simulator${path}`,
  ...(body !== undefined && { body }),
})

/** A field's JSON. Other text is passed on as it is, and the gateway judges it. */
export const jsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The customer's action on the provider's request of a payment. */
export const providerAction = (requestId: string, what: string, body: object = {}): ConsoleCall =>
  what === 'simulate'
    ? { port: 'provider', method: 'POST', path: `/v3/payment_requests/${requestId}/simulate`, body }
    : simulator(`/payment_requests/${requestId}/${what}`, body)
