import { it, onTestFinished, vi } from 'vitest'
import { startLocalClock } from '../../infra/local/process/local-clock.ts'
import { answerProviderCall } from '../../infra/local/provider-simulator/answer-provider-call.ts'
import type { OutgoingCallback } from '../../infra/local/provider-simulator/callbacks.ts'
import { createSimulatorCore } from '../../infra/local/provider-simulator/simulator-core.ts'
import {
  CALLBACK_TOKEN,
  PROVIDER_HEADERS,
  PROVIDER_KEY,
} from '../../infra/local/provider-simulator/simulator-keys.ts'
import type { Change } from '../../infra/local/provider-simulator/simulator-store.ts'
import { startProviderSimulator } from '../../infra/local/provider-simulator/start-provider-simulator.ts'
import { fitsChannel } from '../contract/xendit/provider-facts.ts'
import { createScheduler } from '../simulation/world/scheduler.ts'
import { PATIENCE_MS } from './patience.ts'
import { json, startScriptedServer } from './scripted-server.ts'

export const API_HEADERS = { ...PROVIDER_HEADERS, 'content-type': 'application/json' }

export function aRequestBody(
  channelCode = 'BNI_VIRTUAL_ACCOUNT',
  overrides: Record<string, unknown> = {},
) {
  return {
    reference_id: '0b1f7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f-1',
    type: 'PAY',
    country: 'ID',
    currency: 'IDR',
    request_amount: 150_000,
    channel_code: channelCode,
    channel_properties: [
      { display_name: 'Toko Maju' },
      { account_mobile_number: '+6281234567890' },
      {},
    ].find((one) => fitsChannel({ channel_code: channelCode, channel_properties: one })) ?? {
      success_return_url: 'https://merchant.example/done',
    },
    ...overrides,
  }
}

type CallbackBody = {
  created: string
  event: string
  api_version: string
  data: Readonly<Record<string, unknown>>
}

export const FINAL = ['SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED'] as const

/**
 * The core on a manual clock (a Friday morning in Jakarta), with counted ids and recorded
 * callbacks.
 */
export function aCore(options: { restored?: readonly Change[]; start?: string } = {}) {
  const clock = createScheduler(Date.parse(options.start ?? '2026-11-20T04:10:00.000Z'))
  const callbacks: (CallbackBody & Pick<OutgoingCallback, 'headers'>)[] = []
  const receiver: { status: number | 'unreachable' } = { status: 200 }
  let ids = options.restored ? 500_000 : 0
  const core = createSimulatorCore(
    {
      clock,
      newUuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
      baseUrl: () => 'http://127.0.0.1:3002',
      callbackToken: CALLBACK_TOKEN,
      sendCallback: async ({ headers, body }) => {
        callbacks.push({ headers, ...(JSON.parse(body) as CallbackBody) })
        if (receiver.status === 'unreachable') throw new Error('connection refused')
        return receiver.status
      },
    },
    options.restored,
  )
  const advance = (seconds: number) => clock.runUntil(clock.nowMs() + seconds * 1_000)
  const create = (channelCode?: string, overrides?: Record<string, unknown>) =>
    core.createPaymentRequest(aRequestBody(channelCode, overrides)).payment_request_id
  const paymentIdOf = (requestId: string) =>
    core.getPaymentRequest(requestId).latest_payment_id ?? ''
  return {
    core,
    clock,
    callbacks,
    receiver,
    advance,
    create,
    /** As a caller of the provider's API. */
    ask: (method: string, path: string, body = '', secretKey = PROVIDER_KEY) => {
      const call = { method, path, query: new URLSearchParams(), headers: API_HEADERS, body }
      return answerProviderCall(core, secretKey, call)
    },
    pay: (requestId = create('DANA'), body?: unknown) => {
      core.simulatePayment(requestId, body)
      return paymentIdOf(requestId)
    },
    paymentOf: (requestId: string) => core.getPayment(paymentIdOf(requestId)),
    statusOf: (requestId: string) => core.getPaymentRequest(requestId).status,
    end: (requestId: string, status: (typeof FINAL)[number]) =>
      ({
        SUCCEEDED: core.simulatePayment,
        FAILED: core.failPaymentRequest,
        CANCELED: core.cancelPaymentRequest,
        EXPIRED: core.expirePaymentRequest,
      })[status](requestId),
    rows: (query: Record<string, string> | string = {}) =>
      core.listTransactions(new URLSearchParams(query)).data,
    order: (target: string, fault: string, value?: unknown, times?: number) =>
      core.orderFault({ target, fault, value, times }),
  }
}

type Json = Record<string, unknown>
type Answer<T> = Pick<Response, 'status' | 'headers'> & { readonly body: T; readonly text: string }
type PaymentRequest = {
  payment_request_id: string
  reference_id: string
  status: string
  actions: { value: string }[]
}

const REQUESTS = '/v3/payment_requests'

/** `await using` closes the simulator and the receiver of its callbacks. */
export async function aSimulator(options: { stateFile?: string } = {}) {
  const clock = startLocalClock()
  const receiver = await startScriptedServer(json(200, {}))
  const simulator = await startProviderSimulator({
    clock,
    port: 0,
    secretKey: PROVIDER_KEY,
    callbackUrl: () => `${receiver.url}/callbacks/xendit`,
    callbackToken: CALLBACK_TOKEN,
    ...options,
  })

  /**
   * `T` is what the test expects the JSON body to look like. The body is empty when the answer is
   * not JSON.
   */
  const call = async <T = Json>(
    method: string,
    path: string,
    body?: unknown,
    headers: object = API_HEADERS,
  ): Promise<Answer<T>> => {
    const response = await fetch(simulator.url + path, {
      method,
      headers: { ...headers },
      redirect: 'manual',
      body: (typeof body === 'string' ? body : JSON.stringify(body)) ?? null,
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type') === 'application/json'
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(isJson ? text : '{}'),
      text,
    }
  }

  const create = async (channelCode?: string, overrides?: Record<string, unknown>) => {
    const { body } = await call<PaymentRequest>(
      'POST',
      REQUESTS,
      aRequestBody(channelCode, overrides),
    )
    return { ...body, path: `${REQUESTS}/${body.payment_request_id}` }
  }
  const close = async () => {
    await simulator.close()
    await receiver.close()
    clock.close()
  }
  const callbacks = async (count: number) => {
    const patience = { timeout: PATIENCE_MS, interval: 5 }
    await vi.waitUntil(() => receiver.requests.length >= count, patience)
    return receiver.requests.map(({ headers, body }) => ({
      headers,
      body: JSON.parse(body) as CallbackBody,
    }))
  }
  return {
    clock,
    callbacks,
    simulator,
    call,
    create,
    order: (target: string, fault: string, value?: unknown, times?: number) =>
      call<Json[]>('POST', '/_simulator/faults', { target, fault, value, times }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

export const simulatorIt = it
  .extend('sim', () => aCore())
  .extend('running', async () => {
    const running = await aSimulator()
    onTestFinished(running.close)
    return running
  })
