import { describe, expect, it } from 'vitest'
import { scriptedProvider } from '../../support/scripted-provider.ts'
import { json } from '../../support/scripted-server.ts'

const TIMEOUT_MS = 5_000

const asked = async (status: number, body: unknown) => {
  const { provider, server } = await scriptedProvider(json(status, body))
  return { answer: await provider.getBalance(TIMEOUT_MS), server }
}

describe('xendit getBalance', () => {
  it('asks for the cash account, and rounds down what it holds', async () => {
    const { answer, server } = await asked(200, { balance: 1_241_231.7 })

    expect(answer).toStrictEqual({ kind: 'found', value: { account: 'CASH', amountMinor: 1_241_231 } })
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toStrictEqual([
      'GET /balance?account_type=CASH',
    ])
  })

  it('reads a balance below zero', async () => {
    const { answer } = await asked(200, { balance: -5_000 })

    expect(answer).toStrictEqual({ kind: 'found', value: { account: 'CASH', amountMinor: -5_000 } })
  })

  it.each([
    [200, {}, { kind: 'unanswered', reason: 'server_error' }],
    [200, { balance: 1e300 }, { kind: 'unanswered', reason: 'server_error' }],
    [403, { error_code: 'REQUEST_FORBIDDEN_ERROR' }, { reason: 'misconfigured' }],
    [500, {}, { reason: 'server_error' }],
  ])('has no balance by %i %o', async (status, body, expected) => {
    expect((await asked(status, body)).answer).toMatchObject(expected)
  })
})
