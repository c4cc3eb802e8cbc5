import type { ConsoleCall } from '../console-call.ts'
import { merchant } from './session.ts'

/** The console's name as operator. */
const OPERATOR = 'console'

export function api(path: string): ConsoleCall {
  return { ...merchantAccess(), method: 'GET', path: `/v1/${path}` }
}

function merchantAccess() {
  return { port: 'api', apiKey: merchant().api_key } as const
}

export function apiPost(path: string, body: object, idempotencyKey?: string): ConsoleCall {
  return {
    ...merchantAccess(),
    method: 'POST',
    path: `/v1/${path}`,
    body,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  }
}

/** Invokes any function, as the AWS CLI does. */
export function invoke(name: string, payload: object = {}): ConsoleCall {
  return {
    port: 'lambda',
    method: 'POST',
    path: `/2015-03-31/functions/gateway-local-${name}/invocations`,
    body: payload,
  }
}

/** An operator's action, in the console's name. */
export function operate(action: string, payload: object): ConsoleCall {
  return invoke(action, { operator: OPERATOR, ...payload })
}

/** On AWS the approver is another person, with the duty `approve`. */
const APPROVER = 'console, second person'

/** The second person's approval of an action with exactly these figures. */
export function approveCall(approvable: { readonly action: string; readonly payload: object }) {
  return operate('approve', { ...approvable, operator: APPROVER })
}

export function withClientId(payload: object = {}): object {
  return { client_id: merchant().client_id, ...payload }
}

export function jumpBy(seconds: number): ConsoleCall {
  return {
    port: 'lambda',
    method: 'POST',
    path: '/_local/clock',
    body: { advance_seconds: seconds },
  }
}

export function simulator(
  path: string,
  body?: object,
  method: ConsoleCall['method'] = 'POST',
): ConsoleCall {
  return {
    port: 'provider',
    method,
    path: `/_simulator${path}`,
    ...(body !== undefined && { body }),
  }
}

/** A field's JSON. Other text is passed on as it is, and the gateway judges it. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The customer's action on the provider's request of a payment. */
export function providerAction(requestId: string, action: string, body: object = {}): ConsoleCall {
  return action === 'simulate'
    ? { port: 'provider', method: 'POST', path: `/v3/payment_requests/${requestId}/simulate`, body }
    : simulator(`/payment_requests/${requestId}/${action}`, body)
}

export const CLOCK_CALL: ConsoleCall = { port: 'lambda', method: 'GET', path: '/_local/clock' }
