import { describe, expect, it } from 'vitest'
import { assertDeployable } from '../../../infra/stack/assert-deployable.ts'
import { assertClientLimits } from '../../../infra/stack/capacity/assert-carried.ts'
import { PAYMENT_UNITS } from '../../../infra/stack/capacity/payment-use.ts'
import { carriedUnits, stationsOf } from '../../../infra/stack/capacity/stations.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { CREATE_ROUTE, throttleOf } from '../../../infra/stack/triggers/route-settings.ts'
import { QUOTA_STAGES, stageWith } from '../../support/stage-options.ts'

const [dev, prod] = [deployedStage('dev'), deployedStage('prod')]
const [, tenfold = dev, hundredfold = dev] = QUOTA_STAGES.map(([, stage]) => stage)

function createThrottle(requestsPerSecond: number, burst = requestsPerSecond) {
  return { routeThrottles: { 'POST /v1/payments': { requestsPerSecond, burst } } }
}
function withSettings(
  stage: DeployedStage,
  settings: Partial<DeployedStage['settings']>,
): DeployedStage {
  return { ...stage, settings: { ...stage.settings, ...settings } }
}
function withTable(stage: DeployedStage, units: Partial<DeployedStage['table']>): DeployedStage {
  return { ...stage, table: { ...stage.table, warm: undefined, ...units } }
}
function manyDeliveries(
  stage: DeployedStage,
  endpointsAPayment: number,
  attemptMs: number,
): DeployedStage {
  return { ...stage, deliveries: { endpointsAPayment, attemptMs } }
}
const tenfoldOfFew = { ...tenfold, ...createThrottle(5) }

describe('the capacity of a fresh table and the throttle of the API', () => {
  it.each([dev, prod])(
    'agree in $settings.name: with a reserve for larger payments, the API uses most of the capacity',
    (stage) => {
      const withReserve =
        2 * throttleOf(stage, CREATE_ROUTE).requestsPerSecond * PAYMENT_UNITS.writes.table

      expect(withReserve / carriedUnits(stage).writes).toBeGreaterThan(0.9)
    },
  )

  it('agree on more in a stage that warms its table, up to the maximum of the table', () => {
    const warmed = (units: number) =>
      carriedUnits(withTable(prod, { warm: { readUnits: units, writeUnits: units } }))

    expect(warmed(40_000)).toStrictEqual({ reads: 20_000, writes: 20_000 })
    expect(warmed(1)).toStrictEqual({ reads: 12_000, writes: 4_000 })
  })
})

describe('stages that synth refuses, with a name and a number (design section 9)', () => {
  it('a client that may use more than a quarter of the table', () => {
    expect(() => assertClientLimits(withTable(prod, { maxWriteUnits: 100 }))).toThrow(
      'clientCreateLimit is at most 1, a quarter of the write units of the table',
    )
  })

  it.each<[DeployedStage, RegExp]>([
    // The throttle of the API, and the capacity of a fresh table.
    [
      stageWith(createThrottle(90, 1), 'prod'),
      /with its reserve it is 180 payments a second. These carry less: the write units of the table: 179.3 /,
    ],
    [stageWith(createThrottle(1, 286), 'prod'), /a burst of 286 takes 4004 units of writes/],
    [stageWith({ routeThrottles: {} }, 'prod'), /with its reserve it is 1000 payments a second/],
    [
      stageWith(createThrottle(23, 1)),
      /with its reserve it is 46 .* the write units of the table: 44.8 /,
    ],
    // The quota of the provider, and a part with less capacity.
    [
      { ...manyDeliveries(tenfold, 2, 10_000), accountConcurrency: 3_000 },
      /6000 calls of the provider a minute are 100 payments a second. These carry less: the runs of deliver-webhook: 50 \(lower/,
    ],
    [
      withTable(tenfoldOfFew, { maxWriteUnits: 2_000 }),
      /the write units of the table: 89.6 \(raise table.max/,
    ],
    [
      withSettings(withTable(tenfoldOfFew, { maxWriteUnits: 900 }), {
        providerCallsPerMinute: 5_500,
      }),
      /the write units of by-due: 90 \(raise table.maxWriteUnits/,
    ],
    [
      withTable(tenfoldOfFew, { maxReadUnits: 1_000 }),
      /the read units of the table: 74 \(raise table.maxReadUnits/,
    ],
    // The hottest key: of a client's ledger, and of a partition that all clients share.
    [
      withSettings(hundredfold, { clientCreateLimit: 167 }),
      /the hottest key \(the ledger of a client\): 166.6 \(lower clientCreateLimit to 166/,
    ],
    [
      withSettings(manyDeliveries(hundredfold, 6, 10), { providerCallsPerMinute: 60_000 }),
      /the hottest key \(deliveries in by-due\): 888.8 \(lower providerCallsPerMinute/,
    ],
    [{ ...dev, accountConcurrency: 10 }, /the runs of the account: 5.6 \(raise accountC/],
    [
      {
        ...tenfold,
        reservedConcurrency: { ...tenfold.reservedConcurrency, 'api-create-payment': 89 },
      },
      /the runs reserved for api-create-payment: 98.8 \(raise reservedConcurrency/,
    ],
    // The default limit of a client: a quarter.
    [
      withSettings(prod, { clientCreateLimit: 3 }),
      /clientCreateLimit is at most 2, a quarter of the quota/,
    ],
    [
      withSettings({ ...tenfold, ...createThrottle(40) }, { clientCreateLimit: 11 }),
      /clientCreateLimit is at most 10, a quarter of POST \/v1\/payments/,
    ],
    [
      withSettings(prod, { clientRateLimit: 17 }),
      /clientRateLimit is at most 16, a quarter of the write/,
    ],
    [
      withSettings(
        { ...prod, throttle: { requestsPerSecond: 60, burst: 60 } },
        { clientRateLimit: 16 },
      ),
      /clientRateLimit is at most 15, a quarter of GET/,
    ],
    [withSettings(prod, { clientRateLimit: undefined }), /clientRateLimit is missing/],
    [withSettings(prod, { clientCreateLimit: undefined }), /clientCreateLimit is missing/],
  ])('$1', (stage, message) => {
    expect(() => assertDeployable(stage)).toThrow(message)
  })
})

describe('a stage and its quota of the provider (design section 9)', () => {
  it.each([
    ...QUOTA_STAGES,
    ['a default', dev] as const,
    [
      'a tenth of',
      withSettings(prod, { clientCreateLimit: 1, providerCallsPerMinute: 60 }),
    ] as const,
  ])('agree at %s times the published one, with what it needs', (_, stage) => {
    expect(() => assertDeployable(stage)).not.toThrow()
  })

  it('agree when a part has exactly enough capacity', () => {
    const { perSecond = 0 } =
      stationsOf(dev).find(({ name }) => name === 'the runs of the account') ?? {}
    const warm = { readUnits: 1, writeUnits: 20_000 }
    const large = withTable(dev, { maxReadUnits: 12_000, maxWriteUnits: 20_000, warm })
    const granted = (calls: number) =>
      withSettings(large, { providerCallsPerMinute: Math.floor(calls) })

    expect(() => assertDeployable(granted(perSecond * 60))).not.toThrow()
    expect(() => assertDeployable(granted(perSecond * 60 + 1))).toThrow(
      'the runs of the account: 565.9',
    )
  })

  it('count every further endpoint of a payment', () => {
    const writes = (endpointsAPayment: number) =>
      stationsOf(manyDeliveries(dev, endpointsAPayment, 300))
        .filter(({ name }) => name.startsWith('the write units'))
        .map(({ perSecond }) => Math.floor(perSecond * 10) / 10)

    expect(writes(1)).toStrictEqual([44.8, 163.9, 163.9, 250, 100])
    expect(writes(3)).toStrictEqual([33, 99, 163.9, 250, 62.5])
  })
})
