import { describe, expect, it } from 'vitest'
import { InterviewEnded, interview } from '../../../infra/local/test-provider/prove/interview.ts'
import { proveProvider } from '../../../infra/local/test-provider/prove/prove-provider.ts'
import { scrubber } from '../../../infra/local/test-provider/prove/scrubber.ts'
import type { HttpCall, HttpOutcome } from '../../../shared/provider/call-json.ts'

const KEY = 'xnd_development_of_a_person'

/** Answers calls in their order; the last answer again and again. */
function aProvider(...outcomes: readonly HttpOutcome[]) {
  const calls: HttpCall[] = []
  const waits: number[] = []
  const call = async (made: HttpCall) => {
    calls.push(made)
    return outcomes[Math.min(calls.length, outcomes.length) - 1] as HttpOutcome
  }
  return {
    calls,
    waits,
    environment: { url: 'https://provider.example', secretKey: KEY, call },
    wait: async (ms: number) => void waits.push(ms),
  }
}

function answered(status: number, json: unknown, remaining = 9): HttpOutcome {
  return { kind: 'answered', status, json, rateLimit: { remaining, resetMs: 2_500, limit: 60 } }
}

const UUID = '0b1f7a52-6f0a-4c1d-9b1e-3f5a7c9d1e2f'

describe('a kept exchange', () => {
  it('has no id, number, name, address or free text of an account or a person', () => {
    const { scrubJson } = scrubber()

    const kept = scrubJson({
      business_id: '6577c85379425b82e415c673',
      payment_request_id: `pr-${UUID}`,
      reference_id: 'order of Budi',
      status: 'SUCCEEDED',
      message: 'PT Kopi Senja is unknown',
      error_code: 'DATA_NOT_FOUND',
      request_amount: 50_000,
      created: '2026-11-20T04:10:00.000Z',
      customer: { name: 'Budi' },
      metadata: { Budi: 1 },
      payment_details: { payer_name: 'Budi' },
      channel_properties: {
        display_name: 'BUDI',
        account_mobile_number: '+6281298765432',
        success_return_url: 'https://kopi.example/?id=9',
        virtual_account_number: '381656181574454',
      },
      actions: [{ descriptor: 'QR_STRING', value: '000201Kopi Senja' }],
      type: 'not a word of the documents',
    })

    expect(kept).toStrictEqual({
      business_id: '000000000000000000000001',
      payment_request_id: 'pr-00000000-0000-4000-8000-000000000002',
      reference_id: 'text-3',
      status: 'SUCCEEDED',
      message: 'text-4',
      error_code: 'DATA_NOT_FOUND',
      request_amount: 50_000,
      created: '2026-11-20T04:10:00.000Z',
      channel_properties: {
        display_name: 'text-5',
        account_mobile_number: '+6281000000006',
        success_return_url: 'https://provider.example/7',
        virtual_account_number: '000000000000008',
      },
      actions: [{ descriptor: 'QR_STRING', value: 'text-9' }],
      type: 'text-10',
    })
  })

  it('has equal placeholders for equal texts, also in paths', () => {
    const { scrubJson, scrubPath } = scrubber()

    const body = scrubJson({ payment_request_id: `pr-${UUID}`, reference_id: 'prove-1' })
    const path = scrubPath(`/v3/payment_requests/pr-${UUID}/simulate`)
    const query = scrubPath('/transactions?limit=10&types=PAYMENT&reference_id=prove-1')

    const id = 'pr-00000000-0000-4000-8000-000000000001'
    expect(body).toStrictEqual({ payment_request_id: id, reference_id: 'text-2' })
    expect(path).toBe(`/v3/payment_requests/${id}/simulate`)
    expect(query).toBe('/transactions?limit=10&types=PAYMENT&reference_id=text-2')
  })
})

describe('the interview', () => {
  it('waits until its calls are renewed, and repeats what the limit refused', async () => {
    const limited = { error_code: 'RATE_LIMIT_EXCEEDED' }
    const provider = aProvider(answered(429, limited, 0), answered(200, {}, 0), answered(200, {}))
    const { ask, exchanges } = interview(provider)

    const { status } = await ask('rows', { path: '/transactions' })

    expect(status).toBe(200)
    expect(provider.waits).toStrictEqual([2_500, 2_500])
    expect(exchanges).toHaveLength(1)
  })

  it('takes the refusal as the answer after three pauses', async () => {
    const provider = aProvider(answered(429, { error_code: 'RATE_LIMIT_EXCEEDED' }, 0))

    const { status } = await interview(provider).ask('rows', { path: '/transactions' })

    expect(status).toBe(429)
    expect(provider.calls).toHaveLength(4)
  })

  it.for([
    [{ kind: 'lost', reason: 'timeout' }, 'did not answer rows: timeout'],
    [answered(401, { error_code: 'INVALID_API_KEY' }), 'refuses XENDIT_SECRET_KEY'],
    [answered(502, undefined), 'no JSON (HTTP 502)'],
  ] as const)('ends at an answer that says nothing: %j', async ([outcome, reason]) => {
    const { ask } = interview(aProvider(outcome))

    const asking = ask('rows', { path: '/transactions' })

    await expect(asking).rejects.toThrow(InterviewEnded)
    await expect(asking).rejects.toThrow(reason)
  })

  it('has a bound of calls', async () => {
    const { ask } = interview(aProvider(answered(200, {})))
    const askOften = async () => {
      for (let count = 0; count < 1_000; count++) await ask('rows', { path: '/transactions' })
    }

    await expect(askOften()).rejects.toThrow('400 calls were made')
  })
})

describe('the proof', () => {
  const ways = { nowMs: () => 0, callbacks: undefined, onProgress: () => undefined }

  it('asks nothing about channels that the account has not activated', async () => {
    const refused = answered(403, { error_code: 'INVALID_MERCHANT_SETTINGS' })
    const { answers, endedBy } = await proveProvider({ ...ways, ...aProvider(refused) })

    expect(endedBy).toBeUndefined()
    const asked = answers.filter(({ answer }) => answer !== 'not asked').map(({ id }) => id)
    expect(asked).toStrictEqual(['limit-100'])
    expect(answers.find(({ id }) => id === 'simulate-dana')?.because).toContain('not activated')
  })

  it('keeps what was answered before the provider ended the walk', async () => {
    const provider = aProvider(answered(403, {}), { kind: 'lost', reason: 'ECONNRESET' })

    const { answers, exchanges, endedBy } = await proveProvider({ ...ways, ...provider })

    expect(endedBy).toContain('ECONNRESET')
    expect(exchanges).toHaveLength(1)
    expect(new Set(answers.map(({ answer }) => answer))).toStrictEqual(new Set(['not asked']))
    expect(provider.calls).toHaveLength(2)
  })
})
