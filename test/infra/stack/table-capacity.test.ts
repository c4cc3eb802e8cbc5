import { describe, expect, it } from 'vitest'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { carriedUnits, PAYMENT_UNITS } from '../../../infra/stack/storage/table-capacity.ts'
import { synthesised } from '../../support/stack-template.ts'
import { OPTIONAL_STAGES, stageWith } from '../../support/stage-options.ts'

/** As the template says: payments a second that API Gateway lets in, and units a second that the table carries. */
const agreement = (template: ReturnType<typeof synthesised>) => {
  const api = Object(template.only('AWS::ApiGatewayV2::Stage').properties)
  const table = Object(template.only('AWS::DynamoDB::GlobalTable').properties)
  const creating = api.RouteSettings?.['POST /v1/payments'] ?? api.DefaultRouteSettings
  const mostReads = Number(table.Replicas[0].ReadOnDemandThroughputSettings.MaxReadRequestUnits)
  const mostWrites = Number(table.WriteOnDemandThroughputSettings.MaxWriteRequestUnits)
  return {
    rate: Number(creating.ThrottlingRateLimit),
    burst: Number(creating.ThrottlingBurstLimit),
    // 12,000 and 4,000 are what DynamoDB gives every new table.
    reads: Math.min(mostReads, Math.max(12_000, table.WarmThroughput?.ReadUnitsPerSecond ?? 0)),
    writes: Math.min(mostWrites, Math.max(4_000, table.WarmThroughput?.WriteUnitsPerSecond ?? 0)),
  }
}

describe('what a fresh table carries and what the API lets in', () => {
  it.each(Object.keys(OPTIONAL_STAGES))('agree in %s, to the last payment of their life', (what) => {
    const { rate, burst, reads, writes } = agreement(synthesised(OPTIONAL_STAGES[what] ?? deployedStage('dev')))

    expect(rate * PAYMENT_UNITS.writes).toBeLessThanOrEqual(writes)
    expect(rate * PAYMENT_UNITS.reads).toBeLessThanOrEqual(reads)
    expect(burst * PAYMENT_UNITS.created.writes).toBeLessThanOrEqual(writes)
    // Not by refusing what it could carry, either.
    expect(rate * PAYMENT_UNITS.writes).toBeGreaterThan(0.9 * writes)
  })

  const creating = (requestsPerSecond: number, burst: number) => ({
    routeThrottles: { 'POST /v1/payments': { requestsPerSecond, burst } },
  })

  it.each([
    [
      'more than fresh table',
      stageWith({ ...creating(89, 1) }, 'prod'),
      /89 a second write 4005 units .* carries 4000/,
    ],
    ['a burst', stageWith({ ...creating(1, 334) }, 'prod'), /a burst of 334 writes 4008 units/],
    ['the throttle of all routes', stageWith({ routeThrottles: {} }, 'prod'), /500 a second write/],
    ['more than the most of a stage', stageWith(creating(23, 1)), /23 a second write 1035 units .* carries 1000/],
  ])('are refused in a stage whose payments are %s', (_, stage, message) => {
    expect(() => synthesised(stage)).toThrow(message)
  })

  it('agree on more in a stage that warms its table first, up to its most', () => {
    const { table } = deployedStage('prod')
    const warmed = (units: number) =>
      carriedUnits({ table: { ...table, warm: { readUnits: units, writeUnits: units } } })

    expect(warmed(40_000)).toStrictEqual({ reads: 20_000, writes: 20_000 })
    expect(warmed(1)).toStrictEqual({ reads: 12_000, writes: 4_000 })
  })
})
