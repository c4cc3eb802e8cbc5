import { describe, expect, it } from 'vitest'
import { addDebt, enforceRateLimit, pointsOf } from '../../shared/client/enforce-rate-limit.ts'
import { countPoints, pointsIn } from '../../shared/client/rate-store.ts'
import { rateKey } from '../../shared/table/keys.ts'
import type { QueryInput } from '../../shared/table/table.ts'
import { noteUnits } from '../../shared/table/used-units.ts'
import { API, anApiClient, call } from '../support/api-event.ts'
import { aClientId } from '../support/client-builders.ts'
import { interceptTable, recordTable } from '../support/intercept-table.ts'
import { aStoredClient } from '../support/payment-builders.ts'
import { testDeps } from '../support/test-deps.ts'

const LIMIT = 10
const START = 1_000

/** A client's counter, and environments that each know what they heard last. */
const aCounter = () => {
  const name = { clientId: aClientId(), of: 'requests' } as const
  const watched = recordTable(testDeps())
  const environment = () => {
    let known: Awaited<ReturnType<typeof countPoints>>['counter']
    return async (points: number, second: number, most?: number) => {
      const counting = { second, points, limit: LIMIT, ...(most !== undefined && { most }) }
      const { is, counter } = await countPoints(watched.deps, name, counting, known)
      known = counter
      return [is, counter?.second, counter?.points]
    }
  }
  return { name, environment, calls: watched.calls, deps: watched.deps }
}

describe('the counter of a limit', () => {
  it('is paid off by the limit each second, and never below nothing', () => {
    const points = { second: START, points: 25 }

    expect([0, 1, 2, 3, -5].map((later) => pointsIn(points, START + later, LIMIT))).toStrictEqual([25, 15, 5, 0, 25])
  })

  it('is one item of its client, which the creates have beside it, and is kept for an hour', async () => {
    const { name, environment, deps } = aCounter()
    const key = rateKey(name.clientId, name.of)

    await environment()(3, START)

    expect(key.pk).toMatch(/^RATE#[0-9a-f-]{36}$/)
    expect(rateKey(name.clientId, 'creates').pk).toMatch(/^RATE#[0-9a-f-]{36}#create$/)
    expect(await deps.requests.get(key)).toMatchObject({ second: START, points: 3, ttl: START + 3_600 })
  })

  it('is counted on by an environment that did not know of it', async () => {
    const { environment } = aCounter()

    await environment()(3, START)

    expect(await environment()(4, START)).toStrictEqual(['counted', START, 7])
  })

  it('refuses by the stored count, not by a cached one', async () => {
    const { environment, calls } = aCounter()
    const [one, another] = [environment(), environment()]
    await one(1, START, LIMIT)
    await another(9, START, LIMIT)

    expect(await one(1, START, LIMIT)).toStrictEqual(['refused', START, 10])
    const before = calls.length
    expect(await one(1, START, LIMIT)).toStrictEqual(['refused', START, 10])
    expect(calls).toHaveLength(before)
    expect(await one(1, START)).toStrictEqual(['counted', START, 11])
  })

  it('is paid off once for each second, by the first request', async () => {
    const { environment } = aCounter()
    const [one, another] = [environment(), environment()]
    await one(20, START)
    await another(5, START)

    expect(await one(1, START + 1)).toStrictEqual(['counted', START + 1, 16])
    expect(await another(1, START + 1)).toStrictEqual(['counted', START + 1, 17])
    expect(await another(1, START + 2, LIMIT)).toStrictEqual(['counted', START + 2, 8])
  })

  it('joins the second of a clock that is a little ahead', async () => {
    const { environment } = aCounter()
    const [right, ahead] = [environment(), environment()]
    await ahead(5, START + 2)

    expect(await right(1, START)).toStrictEqual(['counted', START + 2, 6])
  })

  it('makes no points of a clock that is wrong: it is set back, and nothing is paid off', async () => {
    const { environment } = aCounter()
    const [right, ahead] = [environment(), environment()]
    await ahead(5, START + 10)

    expect(await right(1, START)).toStrictEqual(['counted', START, 6])
    expect(await ahead(1, START + 10)).toStrictEqual(['counted', START + 10, 1])
  })

  it('counts nothing where others are first every time', async () => {
    const { name, deps } = aCounter()
    const key = rateKey(name.clientId, name.of)
    const second = { value: START }
    const racing = {
      ...deps,
      table: {
        ...deps.table,
        write: async (step: Parameters<typeof deps.table.write>[0]) => {
          second.value += 1
          await deps.table.write({ kind: 'put', key, item: { second: second.value, points: 1 }, condition: undefined })
          return deps.table.write(step)
        },
      },
    }

    const counted = await countPoints(racing, name, { second: START + 100, points: 1, limit: LIMIT }, undefined)

    expect(counted.is).toBe('contended')
  })
})

const ONE = { points: 1 }

describe('a debt (design section 9)', () => {
  const aDebtor = async (limit = 10) => {
    const deps = testDeps()
    const client = await aStoredClient(deps, { rateLimitPerSecond: limit })
    const anotherEnvironment = { ...deps, memory: {} }
    const ask = (from = deps) =>
      enforceRateLimit(from, client, ONE).then(
        () => 'passed',
        (error: { retryAfterSeconds?: number }) => error.retryAfterSeconds,
      )
    const owe = (points: number, from = deps) => addDebt(from, client, ONE, points * 60)
    return {
      deps,
      client,
      anotherEnvironment,
      ask,
      owe,
      counter: () => deps.table.get(rateKey(client.clientId, 'requests')),
    }
  }

  it.each([
    [0, 0],
    [0.5, 1],
    [60, 1],
    [60.5, 2],
    [2_214, 37],
  ])('%d units are %i points', (units, points) => {
    expect(pointsOf(units)).toBe(points)
  })

  it('refuses in every environment until the limit has paid it off, and says when', async () => {
    const { deps, anotherEnvironment, ask, owe } = await aDebtor()

    expect(await ask()).toBe('passed')
    await owe(36)

    expect([await ask(), await ask(anotherEnvironment)]).toStrictEqual([3, 'passed'])
    // The first request of an environment is not counted; it hears of the debt with the second.
    expect([await ask(anotherEnvironment), await ask(anotherEnvironment)]).toStrictEqual(['passed', 3])
    deps.clock.advance(2)
    expect([await ask(), await ask(anotherEnvironment)]).toStrictEqual([1, 1])
    deps.clock.advance(1)
    expect([await ask(), await ask(anotherEnvironment)]).toStrictEqual(['passed', 'passed'])
  })

  it('costs no write while the client is far below its limit, and none for earlier calls', async () => {
    const { ask, owe, counter } = await aDebtor(40)

    await ask()
    await owe(1)
    await owe(4)

    expect(await counter()).toBeUndefined()
  })

  it('that the table did not count is counted with the next one', async () => {
    const { deps, client, counter } = await aDebtor()
    let isLost = true
    const losing = interceptTable(deps, {
      before: ({ name }) => {
        if (name === 'update' && isLost) throw new Error('the debt was lost')
      },
    })
    await addDebt(losing, client, ONE, 1_200)
    const lost = await counter()
    isLost = false
    await addDebt(losing, client, ONE, 120)

    expect(lost).toBeUndefined()
    expect(await counter()).toMatchObject({ points: 19 + 1 })
  })

  it('of a request is what DynamoDB reports beyond the points taken before it', async () => {
    const deps = testDeps()
    const caller = await anApiClient(deps, { rateLimitPerSecond: 2 })
    const reads = (used: number) => ({
      ...deps,
      table: {
        ...deps.table,
        query: async (input: QueryInput) => {
          noteUnits(used)
          return deps.table.query(input)
        },
      },
    })
    const balance = async (used: number) => {
      const { status, headers } = await call(reads(used), API.getBalance, { caller })
      return [status, headers['retry-after']]
    }

    expect([await balance(600), await balance(0)]).toStrictEqual([
      [200, undefined],
      [429, '5'],
    ])
    expect(await deps.table.get(rateKey(caller.clientId, 'requests'))).toMatchObject({ points: 11 })
  })

  it('of creates stands beside all else where the stage has a limit of its own for them', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const staged = { ...deps, stage: { ...deps.stage, clientRateLimit: 10, clientCreateLimit: 2 } }
    const granted = { ...client, rateLimitPerSecond: 10 }
    const passed = async (one: typeof client, creates: boolean) => {
      const asked = Array.from({ length: 12 }, () => enforceRateLimit(staged, one, { points: 1, creates }))
      return (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled').length
    }

    expect([await passed(client, true), await passed(client, false)]).toStrictEqual([2, 10])
    deps.clock.advance(20)
    expect(await passed(granted, true)).toBe(10)
  })
})
