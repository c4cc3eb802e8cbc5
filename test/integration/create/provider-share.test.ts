import { describe, expect, it } from 'vitest'
import { takeShare } from '../../../shared/provider/quota-store.ts'
import { API, anApiClient, aPaymentBody, call } from '../../support/api-event.ts'
import { testDeps } from '../../support/test-deps.ts'

/** Of a provider that takes eight creates a minute, at the beginning of one. */
const aScarceProvider = async (callsLeft: number | undefined) => {
  const deps = testDeps({ stage: { providerCallsPerMinute: 8 } })
  deps.provider.script('callsLeft', () => callsLeft)
  const clients = [await anApiClient(deps), await anApiClient(deps)] as const
  const create = (caller: (typeof clients)[number], key: string = deps.newId()) =>
    call(deps, API.createPayment, { caller, body: aPaymentBody(), headers: { 'idempotency-key': key } })
  return { deps, clients, create }
}

describe('a client’s share of the provider’s quota (design section 9)', () => {
  it.each([undefined, 8, 4])('is not counted while the provider says that %s of eight calls are left', async (left) => {
    const { deps, clients, create } = await aScarceProvider(left)

    const answers = await Promise.all([1, 2, 3].map(() => create(clients[0])))

    expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 201])
    expect(deps.provider.calls).toHaveLength(3)
  })

  it('is a quarter when fewer than half are left: the next create answers 429, and another client is served', async () => {
    const { deps, clients, create } = await aScarceProvider(3)
    const [flooding, other] = clients

    const answers = [await create(flooding), await create(flooding)]
    answers.push(await create(flooding, 'over'), await create(other))

    expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 429, 201])
    expect(answers[2]?.body).toMatchObject({ code: 'rate_limit' })
    expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(0)
    expect(deps.provider.calls).toHaveLength(3)
    deps.clock.advance(60)
    expect((await create(flooding, 'over')).status).toBe(201)
  })

  it('refuses no replay', async () => {
    const { clients, create } = await aScarceProvider(3)
    const first = await create(clients[0], 'once')
    await create(clients[0])

    const replay = await create(clients[0], 'once')

    expect(replay.status).toBe(200)
    expect(replay.body['payment_id']).toBe(first.body['payment_id'])
  })

  it('is one call at least, for many callers at once too', async () => {
    const deps = testDeps({ stage: { providerCallsPerMinute: 3 } })
    deps.provider.script('callsLeft', () => 0)
    const { clientId } = await anApiClient(deps)

    const taken = await Promise.all([1, 2, 3].map(() => takeShare(deps, 'createRequest', clientId)))

    expect(taken.filter((retryAfterSeconds) => retryAfterSeconds === undefined)).toHaveLength(1)
  })
})
