import { describe, expect, it } from 'vitest'
import { assertDeployable } from '../../../infra/stack/assert-deployable.ts'
import { assertClientLimits } from '../../../infra/stack/capacity/assert-carried.ts'
import { PAYMENT_UNITS } from '../../../infra/stack/capacity/payment-use.ts'
import { carriedUnits, stationsOf } from '../../../infra/stack/capacity/stations.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'
import { OPTIONAL_STAGES, QUOTA_STAGES, stageWith } from '../../support/stage-options.ts'

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
  /** Payments with more fields and deliveries that fail use more than what is measured. */
  const RESERVE = 2
  const writes = RESERVE * PAYMENT_UNITS.writes.table
  const reads = RESERVE * PAYMENT_UNITS.reads

  it.each(Object.keys(OPTIONAL_STAGES))('agree in %s, to the last payment of their life', (what) => {
    const carried = agreement(synthesised(OPTIONAL_STAGES[what] ?? deployedStage('dev')))

    expect(carried.rate * writes).toBeLessThanOrEqual(carried.writes)
    expect(carried.rate * reads).toBeLessThanOrEqual(carried.reads)
    expect(carried.burst * RESERVE * PAYMENT_UNITS.created.writes).toBeLessThanOrEqual(carried.writes)
    // Not by refusing what it could carry, either.
    expect(carried.rate * writes).toBeGreaterThan(0.9 * carried.writes)
  })

  const creating = (requestsPerSecond: number, burst: number) => ({
    routeThrottles: { 'POST /v1/payments': { requestsPerSecond, burst } },
  })

  it.each([
    [
      'more than a fresh table carries',
      stageWith({ ...creating(90, 1) }, 'prod'),
      /which with a reserve takes 180 payments a second. Less is carried by the write units of the table: 179.3 /,
    ],
    ['a burst', stageWith({ ...creating(1, 286) }, 'prod'), /a burst of 286 takes 4004 units of writes/],
    [
      'the throttle of all routes',
      stageWith({ routeThrottles: {} }, 'prod'),
      /which with a reserve takes 1000 payments a second/,
    ],
    [
      'more than the most of a stage',
      stageWith(creating(23, 1)),
      /which with a reserve takes 46 .* the write units of the table: 44.8 /,
    ],
  ])('are refused in a stage whose payments are %s', (_, stage, message) => {
    expect(() => assertDeployable(stage)).toThrow(message)
  })

  it('agree on more in a stage that warms its table first, up to its most', () => {
    const { table } = deployedStage('prod')
    const warmed = (units: number) =>
      carriedUnits({ table: { ...table, warm: { readUnits: units, writeUnits: units } } })

    expect(warmed(40_000)).toStrictEqual({ reads: 20_000, writes: 20_000 })
    expect(warmed(1)).toStrictEqual({ reads: 12_000, writes: 4_000 })
  })
})

describe('a stage and its quota of the provider (design section 9)', () => {
  const dev = deployedStage('dev')
  const [, tenfold = dev, hundredfold = dev] = QUOTA_STAGES.map(([, stage]) => stage)
  const granted = (stage: DeployedStage, providerCallsPerMinute: number) => ({
    ...stage,
    settings: { ...stage.settings, providerCallsPerMinute },
  })
  const tenfoldTable = (units: Partial<DeployedStage['table']>) => ({
    ...tenfold,
    ...creatingFew,
    table: { ...tenfold.table, warm: undefined, ...units },
  })
  const creatingFew = { routeThrottles: { 'POST /v1/payments': { requestsPerSecond: 5, burst: 5 } } }
  const runs = { ...tenfold.reservedConcurrency }

  it.each([...QUOTA_STAGES, ['a default', dev] as const])(
    'agree at %s times the published one, with what it needs',
    (_, stage) => {
      expect(() => assertDeployable(stage)).not.toThrow()
    },
  )

  it('agree where something carries exactly as much', () => {
    const { perSecond } = stationsOf(dev).find(({ name }) => name === 'the runs of the account') ?? { perSecond: 0 }
    const table = {
      ...dev.table,
      maxReadUnits: 12_000,
      maxWriteUnits: 20_000,
      warm: { readUnits: 1, writeUnits: 20_000 },
    }
    const calls = Math.floor(perSecond * 60)

    expect(() => assertDeployable(granted({ ...dev, table }, calls))).not.toThrow()
    expect(() => assertDeployable(granted({ ...dev, table }, calls + 1))).toThrow('the runs of the account: 565.9')
  })

  it.each([
    [
      'deliveries',
      { ...tenfold, deliveries: { endpointsAPayment: 2, attemptMs: 10_000 }, accountConcurrency: 3_000 },
      /6000 calls of the provider a minute are 100 payments a second. Less is carried by the runs of deliver-webhook: 50 \(lower/,
    ],
    ['write units', tenfoldTable({ maxWriteUnits: 2_000 }), /by the write units of the table: 89.6 \(raise table.max/],
    [
      'write units of an index',
      granted(tenfoldTable({ maxWriteUnits: 900 }), 5_500),
      /the write units of by-due: 90 \(raise table.maxWriteUnits/,
    ],
    [
      'read units',
      tenfoldTable({ maxReadUnits: 1_000 }),
      /by the read units of the table: 74 \(raise table.maxReadUnits/,
    ],
    [
      'hottest key, of a client that may fill its ledger',
      { ...hundredfold, settings: { ...hundredfold.settings, clientCreateLimit: 167 } },
      /by the hottest key \(the ledger of a client\): 166.6 \(lower clientCreateLimit to 166/,
    ],
    [
      'hottest key, that all share',
      granted({ ...hundredfold, deliveries: { endpointsAPayment: 6, attemptMs: 10 } }, 60_000),
      /by the hottest key \(deliveries in by-due\): 888.8 \(lower providerCallsPerMinute/,
    ],
    ['account concurrency', { ...dev, accountConcurrency: 10 }, /by the runs of the account: 5.6 \(raise accountC/],
    [
      'runs of creates',
      { ...tenfold, reservedConcurrency: { ...runs, 'api-create-payment': 89 } },
      /by the runs reserved for api-create-payment: 98.8 \(raise reservedConcurrency/,
    ],
  ])('are refused by name and number where it exceeds its %s', (_, stage, message) => {
    expect(() => assertDeployable(stage)).toThrow(message)
  })

  it('count every further endpoint of a payment', () => {
    const writes = (endpointsAPayment: number) =>
      stationsOf({ ...dev, deliveries: { endpointsAPayment, attemptMs: 300 } })
        .filter(({ name }) => name.startsWith('the write units'))
        .map(({ perSecond }) => Math.floor(perSecond * 10) / 10)

    expect(writes(1)).toStrictEqual([44.8, 163.9, 163.9, 250, 100])
    expect(writes(3)).toStrictEqual([33, 99, 163.9, 250, 62.5])
  })
})

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
