import { expect, it } from 'vitest'
import { carriedUnits } from '../../../infra/stack/capacity/stations.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { addDebt, enforceRateLimit } from '../../../shared/client/enforce-rate-limit.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const SECONDS = 60
const ENVIRONMENTS = 20
const stage = deployedStage('prod')
const { clientRateLimit = 0, clientCreateLimit = 0 } = stage.settings
const carried = carriedUnits(stage)

/** Units of requests from the cheapest to the dearest of docs/reliability.md, of one kind each. */
const DEAREST = [
  { sort: 'reads', units: 1, before: 1 },
  { sort: 'reads', units: 60, before: 1 },
  { sort: 'reads', units: 605, before: 3 },
  { sort: 'reads', units: 2_504, before: 3 },
  { sort: 'reads', units: 6_036, before: 1 },
  { sort: 'writes', units: 60, before: 1 },
  { sort: 'writes', units: 76, before: 1 },
  { sort: 'writes', units: 240, before: 1 },
] as const

/** What passes of four times the limit in a minute, over environments in turn. */
const passing = async (perSecond: number, { units, before, creates = false }: Flood): Promise<number> => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const environments = Array.from({ length: ENVIRONMENTS }, () => ({
    ...deps,
    stage: { ...deps.stage, ...stage.settings, environments: 396 },
  }))
  let passed = 0
  for (let second = 0; second < SECONDS; second++) {
    for (let request = 0; request < 4 * perSecond; request++) {
      const environment = environments[request % ENVIRONMENTS] ?? deps
      const asked = { points: before, creates }
      const isPassed = await enforceRateLimit(environment, client, asked).then(
        () => true,
        () => false,
      )
      if (!isPassed) continue
      passed++
      await addDebt(environment, client, asked, units)
    }
    deps.clock.advance(1)
  }
  return passed
}

type Flood = { readonly units: number; readonly before: number; readonly creates?: boolean }

it.each(DEAREST)(
  'a client at four times its limit with requests of $units $sort uses less than a quarter of a fresh table',
  async ({ sort, ...flood }) => {
    const units = (await passing(clientRateLimit, flood)) * flood.units

    expect(units / SECONDS).toBeLessThan(carried[sort] / 4)
  },
)

it('a client at four times its limit of creates with every field as long as it may be makes its limit of them', async () => {
  const passed = await passing(clientCreateLimit, { units: 77, before: 4, creates: true })

  expect(passed).toBeLessThanOrEqual(1.2 * clientCreateLimit * SECONDS)
  expect((passed / SECONDS) * 240).toBeLessThan(carried.writes / 4)
})
