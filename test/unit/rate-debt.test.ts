import { describe, expect, it } from 'vitest'
import { addDebt, enforceRateLimit, pointsOf } from '../../shared/client/enforce-rate-limit.ts'
import { rateKey } from '../../shared/table/keys.ts'
import type { QueryInput } from '../../shared/table/table.ts'
import { noteUnits } from '../../shared/table/used-units.ts'
import { API, anApiClient, call } from '../support/api-event.ts'
import { interceptTable } from '../support/intercept-table.ts'
import { aStoredClient } from '../support/payment-builders.ts'
import { testDeps } from '../support/test-deps.ts'

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
