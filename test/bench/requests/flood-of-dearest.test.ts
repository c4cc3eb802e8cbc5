import { expect, it } from 'vitest'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { addDebt, enforceRateLimit } from '../../../shared/client/enforce-rate-limit.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'
import { carriedUnits } from '../walls/stations.ts'

const SECONDS = 60
const ENVIRONMENTS = 20
const stage = deployedStage('prod')
const { clientRateLimit = 0, clientCreateLimit = 0 } = stage.settings
const carried = carriedUnits(stage)

type Flood = { readonly units: number; readonly before: number; readonly creates?: boolean }
async function countPassing(perSecond: number, { units, before, creates = false }: Flood) {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const environments = Array.from({ length: ENVIRONMENTS }, () => ({
    ...deps,
    stage: { ...deps.stage, ...stage.settings, environments: 396 },
  }))
  const asked = { points: before, creates }
  let passed = 0
  for (let second = 0; second < SECONDS; second++) {
    for (let request = 0; request < 4 * perSecond; request++) {
      const environment = environments[request % ENVIRONMENTS] ?? deps
      try {
        await enforceRateLimit(environment, client, asked)
      } catch {
        continue
      }
      passed++
      await addDebt(environment, client, asked, units)
    }
    deps.clock.advance(1)
  }
  return passed
}

/** Units of requests from the cheapest to the dearest of docs/reliability.md, of one kind each. */
it.each([
  [1, 'reads', 1],
  [60, 'reads', 1],
  [605, 'reads', 3],
  [2_504, 'reads', 3],
  [6_036, 'reads', 1],
  [60, 'writes', 1],
  [76, 'writes', 1],
  [240, 'writes', 1],
] as const)(
  'a client at four times its limit with requests of %d %s uses less than a quarter of a fresh table',
  async (units, sort, before) => {
    const used = (await countPassing(clientRateLimit, { units, before })) * units

    expect(used / SECONDS).toBeLessThan(carried[sort] / 4)
  },
)

it('a client that sends four times its limit of creates, each field at its maximum length, makes only its limit', async () => {
  const passed = await countPassing(clientCreateLimit, { units: 77, before: 4, creates: true })

  expect(passed).toBeLessThanOrEqual(1.2 * clientCreateLimit * SECONDS)
  expect((passed / SECONDS) * 240).toBeLessThan(carried.writes / 4)
})
