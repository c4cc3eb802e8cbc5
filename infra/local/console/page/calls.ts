import type { ConsoleCall } from '../console-call.ts'
import { merchant } from './session.ts'

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

export function operate(action: string, payload: object): ConsoleCall {
  return invoke(action, { operator: OPERATOR, ...payload })
}

/** On AWS the approver is another person, with the duty `approve`. */
const APPROVER = 'console, second person'

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

/** The gateway judges other text. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function providerAction(requestId: string, action: string, body: object = {}): ConsoleCall {
  return action === 'simulate'
    ? { port: 'provider', method: 'POST', path: `/v3/payment_requests/${requestId}/simulate`, body }
    : simulator(`/payment_requests/${requestId}/${action}`, body)
}

export const CLOCK_CALL: ConsoleCall = { port: 'lambda', method: 'GET', path: '/_local/clock' }
