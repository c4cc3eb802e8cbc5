import { describe, expect, it } from 'vitest'
import type { ProviderOperation } from '../../../shared/provider/provider.ts'
import {
  callBudget,
  notePause,
  pausedUntil,
  quotaWindow,
  takeCalls,
  takeShare,
} from '../../../shared/provider/quota-store.ts'
import type { StageSettings } from '../../../shared/stage-settings.ts'
import { lookupsOf } from '../../../shared/sync/read-slice.ts'
import { pausesKey, quotaKey } from '../../../shared/table/keys.ts'
import { addMs, expiresAfter, HOUR_MS, SECOND_MS, timestampOf } from '../../../shared/time.ts'
import { API, anApiClient, aPaymentBody, call } from '../../support/api-event.ts'
import {
  beforeFirst,
  memoryDeps,
  recordTable,
  type TestDeps,
  testDeps,
  writtenKeys,
} from '../../support/test-deps.ts'

/** Each environment has its own provider and caches. */
function environments() {
  const stage = { providerCallsPerMinute: 60 }
  const first = memoryDeps({ stage })
  const second = testDeps({ requests: first.requests, now: first.now, stage })
  return { first, second, windowEnd: addMs(first.now(), 10 * SECOND_MS) }
}

async function take(deps: TestDeps, operation: ProviderOperation, calls: number) {
  const { granted, retryAt } = await takeCalls(deps, new Map([[operation, calls]]))
  return { granted: granted.get(operation) ?? 0, retryAt }
}

describe('takeCalls', () => {
  it.each([1, 5, 59, 60, 601])(
    'grants %d calls a minute, in windows of ten seconds',
    (perMinute) => {
      const limits = [0, 1, 2, 3, 4, 5].map(
        (window) => quotaWindow(perMinute, timestampOf(window * 10_000)).limit,
      )

      expect(limits.reduce((sum, limit) => sum + limit)).toBe(perMinute)
      expect(Math.max(...limits) - Math.min(...limits)).toBeLessThanOrEqual(1)
    },
  )

  it('grants the remaining calls, then none until the next window, for all callers together', async () => {
    const { first, second, windowEnd } = environments()

    const taken = [
      await take(first, 'listTransactions', 7),
      await take(second, 'listTransactions', 7),
      await take(first, 'listTransactions', 1),
      await take(first, 'getPayment', 99),
    ]
    first.clock.set(windowEnd)
    taken.push(await take(second, 'listTransactions', 7))

    const whole = { granted: 7, retryAt: undefined }
    const parts = [3, 0, 10].map((granted) => ({ granted, retryAt: windowEnd }))
    expect(taken).toStrictEqual([whole, ...parts, whole])
    const { number } = quotaWindow(60, first.now())
    const ttl = expiresAfter(addMs(windowEnd, 10 * SECOND_MS), HOUR_MS)
    expect(first.stored.item(quotaKey(number))).toMatchObject({ list_transactions: 7, ttl })
  })
})

it('takes calls of several operations in one write; an operation with too little room gets its remaining calls', async () => {
  const { deps, calls } = recordTable(environments().first)
  await take(deps, 'getRequest', 8)
  const windowEnd = addMs(deps.now(), 10 * SECOND_MS)

  const wantedCalls = new Map<ProviderOperation, number>([['cancelRequest', 3]])
  const takenCalls = await takeCalls(deps, wantedCalls.set('getRequest', 3))

  expect(takenCalls).toStrictEqual({
    granted: new Map(wantedCalls).set('getRequest', 2),
    retryAt: windowEnd,
  })
  expect(writtenKeys(calls)).toHaveLength(3)
})

it('allows no call in a window without calls, if the quota has fewer calls than windows', async () => {
  const deps = testDeps({ stage: { providerCallsPerMinute: 1 } })

  expect(await callBudget(deps, {}).take('getPayment')).toBe(addMs(deps.now(), 10 * SECOND_MS))
})

it('a budget takes one portion for callers that come together, and no call while another operation has none', async () => {
  const { first: deps, windowEnd } = environments()
  const budget = callBudget(deps, { getPayment: 4, getRequest: 4 })

  await Promise.all(Array.from({ length: 6 }, () => budget.take('getPayment')))
  await take(deps, 'getRequest', 10)
  const { isAllowed } = lookupsOf({ deps, budget, deadlineMs: Number.POSITIVE_INFINITY } as never)
  for (let tries = 0; tries < 9; tries++) await isAllowed()

  const { number } = quotaWindow(60, deps.now())
  expect(deps.stored.item(quotaKey(number))).toMatchObject({ get_payment: 8, get_request: 10 })
  expect(await callBudget(deps, {}).take('getPayment', 'getRequest')).toBe(windowEnd)
  deps.clock.set(windowEnd)
  await budget.take('getPayment')
  expect(deps.stored.item(quotaKey(number + 1))).toMatchObject({ get_payment: 4 })
})

it('a budget takes again after the table has failed', async () => {
  const failsOnce = beforeFirst(memoryDeps(), 'update', () => Promise.reject(new Error('it fails')))
  const { take: takeOne } = callBudget(failsOnce, {})
  await expect(takeOne('getPayment')).rejects.toThrow('it fails')
  expect(await takeOne('getPayment')).toBeUndefined()
})

describe('a pause', () => {
  /** The provider refuses a list for this time. The environment forgets it. */
  const refuse = async (deps: TestDeps, pauseMs: number) => {
    deps.provider.script('pauseMs', (name) => (name === 'listTransactions' ? pauseMs : 0))
    await notePause(deps, ['getPayment', 'listTransactions'])
    deps.provider.heal('pauseMs')
  }

  it('holds for its operation in every environment, and a longer pause replaces it, but no shorter one', async () => {
    const { first, second } = environments()
    const until = addMs(first.now(), 7_000)

    await refuse(second, 3_000)
    await refuse(first, 7_000)
    await refuse(second, 5_000)

    expect(await pausedUntil(second, 'getPayment')).toBeUndefined()
    expect(await pausedUntil(second, 'listTransactions')).toBe(until)
    expect(first.stored.item(pausesKey)).toMatchObject({
      list_transactions: until,
      ttl: expiresAfter(until, HOUR_MS),
    })
    expect(await take(second, 'listTransactions', 5)).toStrictEqual({ granted: 0, retryAt: until })
    first.clock.set(until)
    expect(await take(second, 'listTransactions', 5)).toMatchObject({ granted: 5 })
  })

  it('of more than two minutes was written by a wrong clock, and stops no call and no later pause', async () => {
    const { first, second } = environments()
    const now = first.now()
    first.clock.set(addMs(now, HOUR_MS))
    await refuse(first, 5_000)
    first.clock.set(now)

    expect(await take(second, 'listTransactions', 5)).toMatchObject({ granted: 5 })
    await refuse(second, 5_000)
    expect(await pausedUntil(first, 'listTransactions')).toBe(addMs(now, 5_000))
  })

  it('is seen by another environment within a second', async () => {
    const { first, second } = environments()
    const listPause = () => pausedUntil(second, 'listTransactions')
    expect(await listPause()).toBeUndefined()

    await refuse(first, 5_000)

    expect(await listPause()).toBeUndefined()
    first.clock.advance(1)
    expect(await listPause()).toBe(addMs(first.now(), 4_000))
  })
})

async function aScarceProvider(callsLeft: number | undefined, stage: Partial<StageSettings> = {}) {
  const deps = testDeps({ stage: { providerCallsPerMinute: 8, ...stage } })
  deps.provider.script('callsLeft', () => callsLeft)
  const [client, other] = [await anApiClient(deps), await anApiClient(deps)]
  const create = (caller: typeof client, key = deps.newId(), body = aPaymentBody()) =>
    call(deps, API.createPayment, { caller, body, headers: { 'idempotency-key': key } })
  return { deps, client, other, create }
}

const ONE_PUSH = { pushLimit: { pushes: 1, minutes: 10 } }
const CUSTOMER = { phone: '+6281234567890' }
const PUSH = { method: 'ewallet', channel_code: 'OVO', customer: CUSTOMER }

describe('a client’s share of the provider’s quota (design section 9)', () => {
  it.each([undefined, 8, 4])(
    'is not limited while the provider reports %s of eight calls as left',
    async (callsLeft) => {
      const { deps, client, create } = await aScarceProvider(callsLeft)

      const answers = await Promise.all([1, 2, 3].map(() => create(client)))

      expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 201])
      expect(deps.provider.calls).toHaveLength(3)
    },
  )

  it('is a quarter of the calls when fewer than half are left: then a create answers 429, but replays and other clients are served', async () => {
    const { deps, client: flooding, other, create } = await aScarceProvider(3)
    deps.clock.advance(20)

    const answers = [await create(flooding, 'once'), await create(flooding)]
    answers.push(
      await create(flooding, 'over'),
      await create(flooding, 'once'),
      await create(other),
    )

    const [first, , refusal, replay] = answers
    expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 429, 200, 201])
    expect(refusal?.body).toMatchObject({ code: 'rate_limit' })
    expect(refusal?.headers['retry-after']).toBe('40')
    expect(replay?.body['id']).toBe(first?.body['id'])
    expect(deps.provider.calls).toHaveLength(3)
    deps.clock.advance(60)
    expect((await create(flooding, 'over')).status).toBe(201)
  })

  it('is not used by replays, nor by creates that the push limit refuses', async () => {
    const { deps, client, create } = await aScarceProvider(3, ONE_PUSH)
    const push = aPaymentBody(PUSH)

    const answers = [
      await create(client, 'push', push),
      await create(client, 'push', push),
      await create(client, 'push'),
      await create(client, 'second push', push),
      await create(client, 'third push', push),
      await create(client, 'other'),
      await create(client, 'over'),
    ]

    expect(answers.map(({ status }) => status)).toStrictEqual([201, 200, 200, 429, 429, 201, 429])
    expect(deps.provider.countOf('createRequest')).toBe(2)
  })

  it('refuses a push that is not counted for its phone', async () => {
    const { deps, client, create } = await aScarceProvider(3, ONE_PUSH)
    const push = aPaymentBody(PUSH)
    const answers = [await create(client), await create(client), await create(client, 'push', push)]
    deps.clock.advance(60)

    answers.push(await create(client, 'another push', push))

    expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 429, 201])
  })

  it('is used by each attempt of a create, also by a takeover', async () => {
    const { deps, client, create } = await aScarceProvider(3)
    deps.provider.answer('createRequest', { kind: 'unknown', reason: 'timeout' })

    const answers = []
    for (let tries = 0; tries < 3; tries++) answers.push(await create(client, 'order'))

    expect(answers.map(({ status }) => status)).toStrictEqual([500, 500, 429])
    expect(deps.provider.countOf('createRequest')).toBe(2)
  })

  it.each([0, 1])(
    'is given back by callers that wait for another one, after %i attempts of their key',
    async (attempts) => {
      const { deps, client, create } = await aScarceProvider(3, { providerCallsPerMinute: 12 })
      deps.provider.answer('createRequest', { kind: 'unknown', reason: 'timeout' })
      for (let made = 0; made < attempts; made++) await create(client, 'order')
      deps.provider.heal('createRequest')

      const twins = await Promise.all([create(client, 'order'), create(client, 'order')])
      const other = await create(client)

      expect(new Set(twins.map(({ status }) => status))).toStrictEqual(new Set([200, 201]))
      expect(other.status).toBe(201)
      expect((await create(client)).status).toBe(attempts === 1 ? 429 : 201)
    },
  )

  it('fails no waiting caller when it cannot be given back', async () => {
    const { deps, client } = await aScarceProvider(0)
    const own = { ...deps }
    const giveBack = await takeShare(own, client.clientId)
    Object.assign(own, { table: { write: () => Promise.reject(new Error('down')) } })

    await expect(giveBack()).resolves.toBeUndefined()
  })

  it('is at least one call, even for many concurrent callers', async () => {
    const deps = testDeps({ stage: { providerCallsPerMinute: 3 } })
    deps.provider.script('callsLeft', () => 0)
    const { clientId } = await anApiClient(deps)

    const shares = await Promise.allSettled([1, 2, 3].map(() => takeShare(deps, clientId)))

    expect(shares.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
