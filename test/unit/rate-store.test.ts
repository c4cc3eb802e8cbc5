import { describe, expect, it } from 'vitest'
import { countPoints, pointsIn } from '../../shared/client/rate-store.ts'
import { rateKey } from '../../shared/table/keys.ts'
import { aClientId } from '../support/client-builders.ts'
import { recordTable } from '../support/intercept-table.ts'
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
