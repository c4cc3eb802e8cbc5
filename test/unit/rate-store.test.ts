import { describe, expect, it } from 'vitest'
import { addDebt, enforceRateLimit, pointsOf } from '../../shared/client/enforce-rate-limit.ts'
import { countPoints } from '../../shared/client/rate-store.ts'
import { rateKey } from '../../shared/table/keys.ts'
import { put } from '../../shared/table/step.ts'
import { noteUnits } from '../../shared/table/used-units.ts'
import { addMs } from '../../shared/time.ts'
import { API, anApiClient, call } from '../support/api-event.ts'
import { aClientId, aStoredClient } from '../support/payment-builders.ts'
import { interceptTable, recordTable, testDeps } from '../support/test-deps.ts'

const LIMIT = 10
const START = 1_000

function aCounter() {
  const name = { clientId: aClientId(), kind: 'requests' } as const
  const { deps, calls } = recordTable(testDeps())
  const lastRead = new Map<string, Awaited<ReturnType<typeof countPoints>>['counter']>()
  const count = async (environment: string, points: number, secondsLater = 0, most?: number) => {
    const before = calls.length
    const counting = {
      second: START + secondsLater,
      points,
      limit: LIMIT,
      ...(most !== undefined && { most }),
    }
    const { kind, counter } = await countPoints(deps, name, counting, lastRead.get(environment))
    lastRead.set(environment, counter)
    const second = Number(counter?.second) - START
    return `${kind}: ${counter?.points} in second ${second}, by ${calls.length - before} requests`
  }
  return { name, count, deps }
}

type Step = readonly [
  environment: string,
  points: number,
  secondsLater: number,
  most: number | undefined,
  answer: string,
]

/**
 * Each step: who counts how many points in which second, the count that refuses, and the answer.
 */
const HISTORIES: Readonly<Record<string, readonly Step[]>> = {
  'refuses by the stored count, not by a cached count, and a known refusal costs no request': [
    ['one', 1, 0, LIMIT, 'counted: 1 in second 0, by 1 requests'],
    ['two', 9, 0, LIMIT, 'counted: 10 in second 0, by 2 requests'],
    ['one', 1, 0, LIMIT, 'refused: 10 in second 0, by 1 requests'],
    ['one', 1, 0, LIMIT, 'refused: 10 in second 0, by 0 requests'],
    ['one', 1, 0, undefined, 'counted: 11 in second 0, by 1 requests'],
  ],
  'is paid off once for each second, by the first request': [
    ['one', 20, 0, undefined, 'counted: 20 in second 0, by 1 requests'],
    ['two', 5, 0, undefined, 'counted: 25 in second 0, by 2 requests'],
    ['one', 1, 1, undefined, 'counted: 16 in second 1, by 2 requests'],
    ['two', 1, 1, undefined, 'counted: 17 in second 1, by 2 requests'],
    ['two', 1, 2, LIMIT, 'counted: 8 in second 2, by 1 requests'],
  ],
  'joins the second of a clock that is ten seconds ahead, and pays nothing off': [
    ['ahead', 5, 10, undefined, 'counted: 5 in second 10, by 1 requests'],
    ['right', 1, 0, undefined, 'counted: 6 in second 10, by 2 requests'],
    ['ahead', 1, 10, undefined, 'counted: 7 in second 10, by 1 requests'],
  ],
  'gives no points for a wrong clock: the second is set back, and nothing is paid off': [
    ['ahead', 5, 11, undefined, 'counted: 5 in second 11, by 1 requests'],
    ['right', 1, 0, undefined, 'counted: 6 in second 0, by 2 requests'],
    ['ahead', 1, 11, undefined, 'counted: 1 in second 11, by 2 requests'],
  ],
}

describe('the counter of a limit', () => {
  it('is one item of its client, with another item for creates', async () => {
    const { name, count, deps } = aCounter()
    const key = rateKey(name.clientId, name.kind)

    await count('one', 3)

    expect(key.pk).toMatch(/^RATE#[0-9a-f-]{36}$/)
    expect(rateKey(name.clientId, 'creates').pk).toMatch(/^RATE#[0-9a-f-]{36}#create$/)
    expect(await deps.requests.get(key)).toMatchObject({ second: START, points: 3 })
  })

  it.each(Object.entries(HISTORIES))('%s', async (_, steps) => {
    const { count } = aCounter()

    for (const [environment, points, secondsLater, most, answer] of steps) {
      expect(await count(environment, points, secondsLater, most)).toBe(answer)
    }
  })

  it('writes a row anew that cannot be read', async () => {
    const { name, count, deps } = aCounter()
    const key = rateKey(name.clientId, name.kind)

    await deps.table.write(put(key, { second: START, points: 1, before: 'x' }))

    expect(await count('one', 3)).toBe('counted: 3 in second 0, by 2 requests')
    expect(await count('two', 3)).toBe('counted: 6 in second 0, by 2 requests')
  })
})

const ONE = { points: 1 }

describe('a debt (design section 9)', () => {
  const aDebtor = async (limit = 10) => {
    const deps = testDeps()
    const client = await aStoredClient(deps, { rateLimitPerSecond: limit })
    const ask = (from = deps) =>
      enforceRateLimit(from, client, ONE).then(
        () => 'passed',
        ({ details }) => details.retryAfterSeconds,
      )
    const owe = (points: number) => addDebt(deps, client, ONE, points * 60)
    const counter = () => deps.table.get(rateKey(client.clientId, 'requests'))
    return { deps, client, ask, owe, counter }
  }

  it('refuses in every environment until the limit has paid the debt off, and says when', async () => {
    const { deps, ask, owe } = await aDebtor()
    const other = { ...deps, memory: {} }
    const lateClock = { ...deps, memory: {}, now: () => addMs(deps.now(), -10_000) }

    expect(await ask()).toBe('passed')
    await owe(33)

    expect(await ask()).toBe(3)
    // The third request reads the debt.
    for (const [from, seconds] of [
      [other, 3],
      [lateClock, 13],
    ] as const)
      expect([await ask(from), await ask(from), await ask(from)]).toStrictEqual([
        'passed',
        'passed',
        seconds,
      ])
    deps.clock.advance(2)
    expect([await ask(), await ask(other)]).toStrictEqual([1, 1])
    deps.clock.advance(1)
    expect([await ask(), await ask(other)]).toStrictEqual(['passed', 'passed'])
  })

  it('costs no write while the client is far below its limit, and is counted later', async () => {
    const { ask, owe, counter } = await aDebtor(40)

    await ask()
    await owe(1)
    await owe(4)

    expect(await counter()).toBeUndefined()
    for (let more = 0; more < 7; more++) await ask()
    expect(await counter()).toMatchObject({ points: 4 + 7 })
  })

  it('that the table did not count is counted with the next debt', async () => {
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

  it('is a point for each sixty units begun; of a request it is the reported use less the points taken before', async () => {
    expect([0, 0.5, 60, 60.5, 2_214].map(pointsOf)).toStrictEqual([0, 1, 1, 2, 37])
    const deps = testDeps()
    const caller = await anApiClient(deps, { rateLimitPerSecond: 2 })
    let used = 0
    const reading = interceptTable(deps, {
      before: ({ name }) => void (name === 'query' && noteUnits(used)),
    })
    const balance = async (units: number) => {
      used = units
      const { status, headers } = await call(reading, API.getBalance, { caller })
      return [status, headers['retry-after']]
    }

    expect([await balance(600), await balance(0)]).toStrictEqual([
      [200, undefined],
      [429, '5'],
    ])
    expect(await deps.table.get(rateKey(caller.clientId, 'requests'))).toMatchObject({ points: 11 })
  })
})
