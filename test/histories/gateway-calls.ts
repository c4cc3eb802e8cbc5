import { PROVIDER_HEADERS } from '../../infra/local/provider-simulator/simulator-keys.ts'
import { CALLBACK_HEADERS } from '../bench/floor/programs.ts'
import { APPROVER, askedApproval } from '../support/with-approval.ts'
import type { Asked, HistoryRecorder, Outcome, SeenPayment } from './history-record.ts'
import type { KilledGateway } from './killed-gateway.ts'
import type { Client, PlannedPayment } from './plan-payments.ts'

type Json = Record<string, unknown>
type Answer = { readonly status: number; readonly body: Json }
export type Shown = Pick<SeenPayment, 'id' | 'destination'>
type Port = 'api' | 'lambda' | 'provider'

/** Longer than every deadline of the gateway. */
const TIMEOUT_MS = 45_000
const JSON_HEADERS = { 'content-type': 'application/json' }

/** The gateway may die during any call. */
export function gatewayCalls(gateway: KilledGateway, { record, clockJumps }: HistoryRecorder) {
  const send = async (
    port: Port,
    path: string,
    init: RequestInit = {},
  ): Promise<Answer | undefined> => {
    const banner = await gateway.up()
    try {
      const answer = await fetch(`${banner[port]}${path}`, {
        ...init,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return { status: answer.status, body: JSON.parse((await answer.text()) || '{}') }
    } catch {
      return undefined
    }
  }
  const post = (
    port: Port,
    path: string,
    body: unknown,
    headers: Record<string, string> = JSON_HEADERS,
  ) => send(port, path, { method: 'POST', headers, body: JSON.stringify(body) })
  const authorized = ({ apiKey }: Client) => ({
    ...JSON_HEADERS,
    authorization: `Bearer ${apiKey}`,
  })

  const recorded = async (asked: Asked, call: () => Promise<Outcome | undefined>) => {
    await gateway.up()
    return record(asked, call)
  }
  const read = (client: Client, path: string) => send('api', path, { headers: authorized(client) })

  const invoke = async (action: string, payload: object = {}): Promise<Answer | undefined> => {
    const answer = await post(
      'lambda',
      `/2015-03-31/functions/gateway-local-${action}/invocations`,
      payload,
    )
    const { status = 500, body } = answer?.body ?? {}
    return answer?.status === 200 ? { status: Number(status), body: Object(body) } : undefined
  }

  const requestOf = async ({ id, destination }: Shown) => {
    const found = await send('provider', `/_simulator/payment_requests?reference_id=${id}`)
    const requests: readonly Json[] = Array.isArray(found?.body) ? found.body : []
    return requests.find((request) => JSON.stringify(request).includes(JSON.stringify(destination)))
  }

  return {
    send,
    post,
    invoke,
    create: (
      client: Client,
      { key, body }: PlannedPayment,
      change: { reference: string; amount: number },
    ) => {
      const valid = change.amount > 0
      return recorded({ op: 'create', client: client.id, key, ...change, valid }, async () => {
        const sent = { ...body, amount: change.amount, external_reference: change.reference }
        const answer = await post('api', '/v1/payments', sent, {
          ...authorized(client),
          'idempotency-key': key,
        })
        if (isLost(answer)) return { outcome: 'unknown' }
        if (answer.status === 422) return { outcome: 'refused' }
        // The rate limit refused the create before it had an effect.
        if (answer.status === 429) return undefined
        const seen = seenPayment(answer.body)
        if (answer.status === 201) return { outcome: 'ok', seen, first: true }
        return answer.status === 200 ? { outcome: 'ok', seen } : unexpected(answer)
      })
    },
    find: (client: Client, key: string) =>
      recorded({ op: 'find', client: client.id, key }, async () => {
        const answer = await read(client, `/v1/payments?idempotency_key=${encodeURIComponent(key)}`)
        if (isLost(answer)) return undefined
        const { data } = answer.body
        if (answer.status !== 200 || !Array.isArray(data) || data.length > 1)
          return unexpected(answer)
        return data.length === 1
          ? { outcome: 'ok', seen: seenPayment(data[0]) }
          : { outcome: 'absent' }
      }),
    get: (client: Client, payment: string) =>
      recorded({ op: 'get', client: client.id, payment }, async () => {
        const answer = await read(client, `/v1/payments/${payment}`)
        if (isLost(answer)) return undefined
        if (answer.status === 404) return { outcome: 'absent' }
        return answer.status === 200
          ? { outcome: 'ok', seen: seenPayment(answer.body) }
          : unexpected(answer)
      }),
    cancel: (client: Client, payment: string) =>
      recorded({ op: 'cancel', client: client.id, payment }, async () => {
        const answer = await post('api', `/v1/payments/${payment}/cancel`, {}, authorized(client))
        if (isLost(answer)) return { outcome: 'unknown' }
        if (answer.status === 422) return { outcome: 'refused', status: statusIn(answer) }
        return answer.status === 200
          ? { outcome: 'ok', seen: seenPayment(answer.body) }
          : unexpected(answer)
      }),
    visit: async (client: Client, shown: Shown, op: 'pay' | 'fail') => {
      const found = await requestOf(shown)
      if (found === undefined) return undefined
      const request = String(found['payment_request_id'])
      return recorded({ op, client: client.id, payment: shown.id }, async () => {
        const answer =
          op === 'pay'
            ? await post('provider', `/v3/payment_requests/${request}/simulate`, null, {
                ...JSON_HEADERS,
                ...PROVIDER_HEADERS,
              })
            : await post('provider', `/_simulator/payment_requests/${request}/fail`, {})
        if (isLost(answer)) return { outcome: 'unknown' }
        if (answer.status === 400) return { outcome: 'refused' }
        return answer.status === 200 ? { outcome: 'ok' } : unexpected(answer)
      })
    },
    /**
     * The provider reports the paid payment once more, also when a worker has applied the first
     * report.
     */
    repeatCallback: async (shown: Shown) => {
      const request = await requestOf(shown)
      const captured = request?.['latest_payment_id']
      if (captured === undefined) return undefined
      const { payment_request_id, reference_id } = Object(request)
      const data = { payment_id: captured, payment_request_id, reference_id, status: 'SUCCEEDED' }
      return post('api', '/callbacks/xendit', { event: 'payment.capture', data }, CALLBACK_HEADERS)
    },
    balance: (client: Client) =>
      recorded({ op: 'balance', client: client.id }, async () => {
        const answer = await read(client, '/v1/balance?include=settlements')
        if (isLost(answer)) return undefined
        if (answer.status !== 200) return unexpected(answer)
        const amount = (field: string) => Number(answer.body[`${field}_minor`])
        return {
          outcome: 'ok',
          balance: {
            pending: amount('pending'),
            available: amount('available'),
            in_settlement: amount('in_settlement'),
            paid_out: amount('paid_out'),
          },
        }
      }),
    settle: (client: Client) =>
      recorded({ op: 'settle', client: client.id }, async () => {
        const answer = await invoke('trigger-settlement', {
          operator: 'history',
          client_id: client.id,
        })
        // A settlement that was recorded without an answer shows in a balance. A 422, nothing to
        // settle, says nothing.
        if (isLost(answer) || answer.status === 422) return undefined
        const { settlements } = answer.body
        if (answer.status !== 200 || !Array.isArray(settlements)) return unexpected(answer)
        return { outcome: 'ok', nets: settlements.map(({ net_minor }) => Number(net_minor)) }
      }),
    markPaid: (client: Client, settlement: { readonly id: string; readonly net: number }) =>
      recorded({ op: 'mark_paid', client: client.id, nets: [settlement.net] }, async () => {
        const bank_reference = `transfer of ${settlement.id}`
        const payload = { operator: 'history', settlement_id: settlement.id, bank_reference }
        const pay = () => invoke('mark-settlement-paid', payload)
        const first = await pay()
        const asked = askedApproval(first?.body['action_hint'])
        if (asked) await invoke('approve', { operator: APPROVER, ...asked })
        const answer = asked ? await pay() : first
        if (isLost(answer)) return { outcome: 'unknown' }
        if (answer.status === 200) return { outcome: 'ok' }
        // Refused without an effect: it is too early, its client is being audited, the kills have
        // let no audit end for a day, or the approval was lost and is asked again.
        const isAskedAgain = askedApproval(answer.body['action_hint']) !== undefined
        const isAudited = /try again|need an audit/.test(String(answer.body['message']))
        if (answer.body['retry_at'] !== undefined || isAskedAgain || isAudited) return undefined
        const status = statusIn(answer)
        return status === 'manual_paid' ? { outcome: 'refused', status } : unexpected(answer)
      }),
    advance: async (seconds: number) => {
      clockJumps(seconds)
      return post('lambda', '/_local/clock', { advance_seconds: seconds })
    },
    upstream: async () => {
      const found = await send('provider', '/_simulator/payment_requests?reference_id=')
      return Array.isArray(found?.body) ? found.body : []
    },
  }
}

/** Whether the call's effect is unknown: it has no answer, or a 5xx. */
function isLost(answer: Answer | undefined): answer is undefined {
  return answer === undefined || answer.status >= 500
}

function seenPayment(dto: Json) {
  const text = (field: string) => String(dto[field])
  return {
    id: text('id'),
    destination: text('payment_destination'),
    amount: Number(dto['notional_minor']),
    reference: text('external_reference'),
    created_at: text('created_at'),
    expires_at_ms: Date.parse(text('expires_at')),
    status: text('status'),
    ...('paid_at' in dto && { paid_at: text('paid_at') }),
    net: Number(dto['client_net_minor']),
    fee_status: text('fee_status'),
  }
}

function unexpected({ status, body }: Answer): Outcome {
  return { outcome: 'other', status: `${status} ${String(body['message'])}` }
}

function statusIn({ body }: Answer) {
  return /status=(\w+)/.exec(String(body['message']))?.[1] ?? 'nothing'
}

export type GatewayCalls = ReturnType<typeof gatewayCalls>
