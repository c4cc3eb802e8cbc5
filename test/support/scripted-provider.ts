import * as v from 'valibot'
import { PROVIDER_KEY as SIMULATOR_KEY } from '../../infra/local/provider-simulator/simulator-keys.ts'
import { PaymentIdSchema } from '../../shared/ids.ts'
import { minor } from '../../shared/money.ts'
import { createInput } from '../../shared/payment/create/create-input.ts'
import type { PaymentRequest } from '../../shared/payment/payment.ts'
import { callJson, type HttpCall } from '../../shared/provider/call-json.ts'
import type { CreateRequestInput } from '../../shared/provider/provider.ts'
import { xenditProvider } from '../../shared/provider/xendit/xendit-provider.ts'
import type { Secrets } from '../../shared/secrets.ts'
import { NEVER_MS } from './patience.ts'
import { aRequest } from './payment-builders.ts'
import { type aSimulator } from './provider-simulator-harness.ts'
import { json, type Script, startScriptedServer } from './scripted-server.ts'

export const PROVIDER_KEY = 'xnd_development_test_key'

export const PROVIDER_SECRET = JSON.stringify({ secret_key: PROVIDER_KEY })

export type Asked = Partial<Pick<PaymentRequest, 'method' | 'channelCode' | 'description'>> &
  Partial<Pick<CreateRequestInput, 'reference' | 'amountMinor' | 'expiresAt' | 'phone'>>

export async function scriptedProvider(
  script: Script,
  nowMs = Date.now,
  get: Secrets['get'] = async () => PROVIDER_SECRET,
) {
  const server = await startScriptedServer(script)
  return {
    provider: xenditProvider({ baseUrl: server.url, stage: 'test', secrets: { get }, nowMs, call }),
    server,
  }
}

/**
 * A call that a slow machine does not end: only deadlines below a second are kept, which a test
 * itself has chosen.
 */
function call(request: HttpCall) {
  const { timeoutMs } = request
  return callJson({ ...request, timeoutMs: timeoutMs < 1_000 ? timeoutMs : NEVER_MS })
}

/** A BCA virtual account by default. */
export function aCreateInput(
  { reference, expiresAt, phone, amountMinor = minor(150_000), ...asked }: Asked = {},
  client: Parameters<typeof createInput>[1] = {
    name: 'Warung Kopi',
    returnUrl: 'https://merchant.example/return',
  },
) {
  const request = {
    method: 'virtual_account' as const,
    channelCode: 'BCA',
    ...asked,
    notionalMinor: amountMinor,
    customer: { phone },
  }
  const paymentId = v.parse(PaymentIdSchema, '0b1f7a52-6f0a-8c1d-9b1e-3f5a7c9d1e2f')
  const stage = {
    defaultReturnUrl: 'https://gateway.example/return',
    defaultDisplayName: 'Gateway',
  }
  const input = createInput(
    stage,
    client,
    { paymentId, attempt: 1, request: aRequest(request) },
    expiresAt,
  )
  return reference === undefined ? input : { ...input, reference }
}

export const VA_NUMBER = {
  type: 'PRESENT_TO_CUSTOMER',
  descriptor: 'VIRTUAL_ACCOUNT_NUMBER',
  value: '381652390000001',
}

/** The answer echoes the request, as the provider does. */
export function createdAnswer(overrides: object = {}, status = 201): Script {
  return (response, request) =>
    json(status, {
      payment_request_id: 'pr-1',
      ...JSON.parse(request.body),
      status: 'REQUIRES_ACTION',
      actions: [VA_NUMBER],
      ...overrides,
    })(response, request)
}

/** One paid and settled virtual account, in the provider's format. */
export const PAID_REQUEST = {
  payment_request_id: 'pr-1',
  reference_id: 'ref-1',
  status: 'SUCCEEDED',
  latest_payment_id: 'py-1',
  channel_code: 'BNI_VIRTUAL_ACCOUNT',
  currency: 'IDR',
  request_amount: 150_000,
  actions: [{ ...VA_NUMBER, value: '8808000000000001' }],
}

export const CAPTURED_PAYMENT = {
  payment_id: 'py-1',
  payment_request_id: 'pr-1',
  reference_id: 'ref-1',
  currency: 'IDR',
  request_amount: 150_000,
  status: 'SUCCEEDED',
  captures: [
    { capture_id: 'cptr-1', capture_amount: 150_000, capture_timestamp: '2026-11-20T04:00:00Z' },
  ],
}

export const SETTLED_TRANSACTION = {
  id: 'txn_1',
  product_id: 'py-1',
  type: 'PAYMENT',
  status: 'SUCCESS',
  reference_id: 'ref-1',
  currency: 'IDR',
  amount: 150_000,
  net_amount: 145_560,
  cashflow: 'MONEY_IN',
  settlement_status: 'SETTLED',
  estimated_settlement_time: '2026-11-20T04:05:00Z',
  created: '2026-11-20T04:00:00.000Z',
  updated: '2026-11-20T04:06:00.000Z',
  fee: { xendit_fee: 4_000, value_added_tax: 440, status: 'COMPLETED' },
  product_data: { capture_id: 'cptr-1', payment_request_id: 'pr-1' },
}

export function adapter(
  simulator: Awaited<ReturnType<typeof aSimulator>>,
  secretKey = SIMULATOR_KEY,
) {
  return xenditProvider({
    baseUrl: simulator.simulator.url,
    stage: 'local',
    nowMs: simulator.clock.nowMs,
    call,
    secrets: { get: async () => JSON.stringify({ secret_key: secretKey }) },
  })
}
