import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { enforceRateLimit } from '../../shared/client/enforce-rate-limit.ts'
import { listPoints } from '../../shared/page.ts'
import { rateKey } from '../../shared/table/keys.ts'
import { API, anApiClient, call } from '../support/api-event.ts'
import { aPendingPayment, aStoredClient } from '../support/payment-builders.ts'
import { interceptTable, recordTable, testDeps } from '../support/test-deps.ts'

const LIMIT = 40
const ONE = { points: 1 }

async function spreadOver(environments: number, { losesFirstReports = false } = {}) {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const stage = { ...deps.stage, clientRateLimit: LIMIT, environments }
  const all = Array.from({ length: environments }, () => {
    let reports = 0
    const losing = interceptTable(deps, {
      before: ({ name }) => {
        if (name === 'update' && reports++ === 0) throw new Error('the report was lost')
      },
    })
    return recordTable({ ...(losesFirstReports ? losing : deps), stage: { ...stage } })
  })
  const writes = () =>
    all.flatMap(({ calls }) => calls.flatMap((made) => ('steps' in made ? made.steps : [])))

  const flow = async (perSecond: number, seconds: number) => {
    const passed: number[] = []
    for (let second = 0; second < seconds; second++) {
      let count = 0
      for (let request = 0; request < perSecond; request++) {
        const at = (second * perSecond + request) % environments
        const environment = all[at]?.deps ?? deps
        count += await enforceRateLimit(environment, client, ONE).then(
          () => 1,
          () => 0,
        )
      }
      passed.push(count)
      deps.clock.advance(1)
    }
    return passed
  }
  return { deps, client, stage, all, writes, flow }
}

function sum(counts: readonly number[]) {
  return counts.reduce((total, count) => total + count, 0)
}

describe('the rate limit that every client has (design sections 5 and 9)', () => {
  it.each([
    [4, 1],
    [4, 10],
    [5, 100],
  ])(
    'costs no write while a client is %i times below the limit, over %i environments',
    async (times, environments) => {
      const { writes, flow } = await spreadOver(environments)

      expect(sum(await flow(LIMIT / times, 20))).toBe((20 * LIMIT) / times)
      expect(writes()).toStrictEqual([])
    },
  )

  it('lets no more pass where the first report of every environment is lost, and refuses nothing at the limit', async () => {
    const [losing, whole] = [
      await spreadOver(10, { losesFirstReports: true }),
      await spreadOver(10),
    ]

    expect(sum(await losing.flow(2 * LIMIT, 10))).toBeLessThanOrEqual(12 * LIMIT)
    expect(sum(await whole.flow(LIMIT, 12))).toBe(12 * LIMIT)
  })

  it.each([
    [10, 1],
    [10, 10],
    [2, 20],
  ])(
    'lets at most a fifth more than the limit pass in ten seconds of %d times the limit, over %i environments',
    async (times, over) => {
      const { flow } = await spreadOver(over)

      const passed = await flow(times * LIMIT, 10)

      expect(sum(passed)).toBeLessThanOrEqual(12 * LIMIT)
      // Every environment has read the count after two seconds. The third second pays the excess
      // off.
      expect(passed[2]).toBeLessThanOrEqual(LIMIT)
      expect(passed.slice(3)).toStrictEqual(Array.from({ length: 7 }, () => LIMIT))
      expect(sum(passed)).toBeGreaterThanOrEqual(10 * LIMIT)
    },
  )

  it('keeps its counters for an hour, and forgets a flood ten seconds after its end', async () => {
    const { writes, flow, deps } = await spreadOver(2)
    await flow(2 * LIMIT, 1)
    const ttl = Math.floor(Date.parse(deps.now()) / 1_000) - 1 + 3_600
    expect(writes().length).toBeGreaterThan(LIMIT / 2)
    // Refused requests write nothing.
    expect(writes().length).toBeLessThan(LIMIT)
    expect(
      writes().map((step) => ('changes' in step ? step.changes.set?.['ttl'] : undefined)),
    ).toStrictEqual(writes().map(() => ttl))

    deps.clock.advance(20)
    const before = writes().length
    await flow(LIMIT / 4, 5)

    expect(writes()).toHaveLength(before)
  })

  it.each([
    ['the client’s own limit', 3, { clientRateLimit: 7 }, [3, 0]],
    [
      'the client’s own limit for creates too',
      3,
      { clientRateLimit: 7, clientCreateLimit: 2 },
      [3, 0],
    ],
    ['the stage’s limit for other clients', undefined, { clientRateLimit: 7 }, [7, 0]],
    [
      'the stage’s limit for creates',
      undefined,
      { clientRateLimit: 7, clientCreateLimit: 2 },
      [2, 7],
    ],
    ['no limit in a stage without limits', undefined, {}, [12, 12]],
  ])('is %s', async (_, rateLimitPerSecond, limits, passed) => {
    const deps = testDeps()
    const client = await aStoredClient(deps, { rateLimitPerSecond })
    const staged = { ...deps, stage: { ...deps.stage, ...limits } }
    const pass = async (creates: boolean) => {
      const asked = Array.from({ length: 12 }, () =>
        enforceRateLimit(staged, client, { points: 1, creates }),
      )
      return (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled').length
    }

    expect([await pass(true), await pass(false)]).toStrictEqual(passed)
  })

  it.each([
    [0, 2],
    [9.999, 2],
    [10, 1],
  ])(
    'shares the limit by what each environment counted in ten seconds: after %d s %d more requests pass',
    async (seconds, free) => {
      const { deps, client, all } = await spreadOver(100)
      const ask = async (at: number) => {
        await enforceRateLimit(all[at]?.deps ?? deps, client, ONE)
        return all[at]?.calls.length
      }
      for (const at of [0, 0, 1]) await ask(at)
      // The environment counts two of four points.
      const counted = await ask(1)
      deps.clock.advance(seconds)

      for (let passed = 0; passed < free; passed++) expect(await ask(1)).toBe(counted)
      expect(await ask(1)).toBeGreaterThan(counted ?? 0)
    },
  )

  it('waits while points that passed uncounted are written, and for no other write', async () => {
    const { deps, client, stage } = await spreadOver(1)
    const heldWrites: (() => void)[] = []
    const holdingDeps = interceptTable(deps, {
      before: () => new Promise<void>((resolve) => heldWrites.push(resolve)),
    })
    const ask = () => enforceRateLimit({ ...holdingDeps, stage }, client, ONE)
    const takeWrites = async () => (await setImmediate(), heldWrites.splice(0))
    const requests = Array.from({ length: LIMIT / 4 + 3 }, ask)

    const catchingUp = await takeWrites()
    for (const release of catchingUp) release()
    const otherWrites = await takeWrites()
    requests.push(ask())
    const lastWrites = await takeWrites()
    for (const release of [...otherWrites, ...lastWrites]) release()

    expect([catchingUp, otherWrites, lastWrites].map(({ length }) => length)).toStrictEqual([
      1, 2, 1,
    ])
    await Promise.all(requests)
  })

  it('counts a request later that other writers kept from being counted', async () => {
    const { deps, client, stage } = await spreadOver(1)
    const write = () => Promise.resolve({ applied: false, item: undefined })
    const contended = { ...deps, stage, table: { ...deps.table, write } }
    for (let asked = 0; asked <= LIMIT / 4; asked++) await enforceRateLimit(contended, client, ONE)

    await enforceRateLimit({ ...deps, stage }, client, ONE)

    const counter = await deps.table.get(rateKey(client.clientId, 'requests'))
    expect(counter).toMatchObject({ points: LIMIT / 4 + 2 })
  })

  it('takes a point for a page, and a point for each fifty rows: long pages use the limit up sooner', async () => {
    expect([Number.NaN, -3, 1, 49, 50, 100, 1_000].map(listPoints)).toStrictEqual([
      1, 1, 1, 1, 2, 3, 3,
    ])
    const deps = testDeps()
    const caller = await anApiClient(deps, { rateLimitPerSecond: 6 })
    // The first read shows one payment, which gives no point of the page back.
    await aPendingPayment(deps, caller)
    const list = async (per_page: string) =>
      (await call(deps, API.listPayments, { caller, query: { per_page } })).status

    expect([await list('100'), await list('100'), await list('1')]).toStrictEqual([200, 200, 429])
  })
})
