import { describe, expect, it } from 'vitest'
import { assertClientLimits } from '../../../infra/stack/capacity/assert-carried.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { QUOTA_STAGES } from '../../support/stage-options.ts'

describe('what one client may use by default', () => {
  const limited = (stage: DeployedStage, settings: Partial<DeployedStage['settings']>): DeployedStage => ({
    ...stage,
    settings: { ...stage.settings, ...settings },
  })
  const [dev, prod] = [deployedStage('dev'), deployedStage('prod')]
  const atFactor = (factor: number): DeployedStage => QUOTA_STAGES.find(([one]) => one === factor)?.[1] ?? prod
  const [tenfold, hundredfold] = [atFactor(10), atFactor(100)]

  it.each([
    [
      'creates, by the quota',
      limited(prod, { clientCreateLimit: 3 }),
      /clientCreateLimit is at most 2, a quarter of the quota/,
    ],
    [
      'creates, by the route',
      limited(
        { ...tenfold, routeThrottles: { 'POST /v1/payments': { requestsPerSecond: 40, burst: 40 } } },
        { clientCreateLimit: 11 },
      ),
      /clientCreateLimit is at most 10, a quarter of POST \/v1\/payments/,
    ],
    [
      'creates, by the table',
      { ...prod, table: { ...prod.table, maxWriteUnits: 100 } },
      /clientCreateLimit is at most 1, a quarter of the write units of the table/,
    ],
    [
      'points, by the table',
      limited(prod, { clientRateLimit: 17 }),
      /clientRateLimit is at most 16, a quarter of the write/,
    ],
    [
      'points, by the route',
      limited({ ...prod, throttle: { requestsPerSecond: 60, burst: 60 } }, { clientRateLimit: 16 }),
      /clientRateLimit is at most 15, a quarter of GET/,
    ],
    ['points that are not bounded', limited(prod, { clientRateLimit: undefined }), /clientRateLimit is missing/],
    ['creates that are not bounded', limited(prod, { clientCreateLimit: undefined }), /clientCreateLimit is missing/],
  ] as const)('is refused at synth beyond a quarter: %s', (_, stage, message) => {
    expect(() => assertClientLimits(stage)).toThrow(message)
  })

  it('is a quarter in every stage, and at least one a second', () => {
    for (const stage of [prod, dev, tenfold, hundredfold]) expect(() => assertClientLimits(stage)).not.toThrow()
    const small = limited(prod, { clientCreateLimit: 1, providerCallsPerMinute: 60 })
    expect(() => assertClientLimits(small)).not.toThrow()
  })
})
