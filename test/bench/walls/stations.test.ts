import { describe, expect, it } from 'vitest'
import { API_FUNCTIONS } from '../../../functions/api-functions.ts'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { assertDeployable } from '../../../infra/stack/assert-deployable.ts'
import { CREATE_ROUTE, throttleOf } from '../../../infra/stack/settings/route-settings.ts'
import { type DeployedStage, deployedStage, loadOf } from '../../../infra/stack/stage.ts'
import { UNITS_A_POINT } from '../../../shared/client/enforce-rate-limit.ts'
import { QUOTA_STAGES } from '../../support/stage-options.ts'
import { PAYMENT_UNITS } from './payment-use.ts'
import {
  auditStation,
  carriedUnits,
  clientStations,
  stationsOf,
  tableStations,
} from './stations.ts'

const [dev, prod] = [deployedStage('dev'), deployedStage('prod')]

function withTable(stage: DeployedStage, units: Partial<DeployedStage['table']>) {
  return { ...stage, table: { ...stage.table, warm: undefined, ...units } }
}

function perSecond(stations: ReturnType<typeof stationsOf>, name: string) {
  return stations
    .filter((station) => station.name.startsWith(name))
    .map((station) => Math.floor(station.perSecond * 10) / 10)
}

describe.each([dev, prod])('the limits of $settings.name (design section 9)', (stage) => {
  const { requestsPerSecond: creates } = throttleOf(stage, CREATE_ROUTE)
  const table = Math.min(...tableStations(stage).map(({ perSecond: carried }) => carried))
  const units = carriedUnits(stage)

  it('let in half of the payments that a fresh table carries: the rest is for larger ones', () => {
    expect(table / creates).toBeGreaterThanOrEqual(2)
    expect(table / creates).toBeLessThan(2.2)
  })

  it('give one client at most a quarter by default, of creates and of other requests', () => {
    const { clientCreateLimit, clientRateLimit } = stage.settings
    const others = API_FUNCTIONS.flatMap((spec) => routeKeyOf(spec) ?? [])
      .filter((route) => route !== CREATE_ROUTE)
      .map((route) => throttleOf(stage, route).requestsPerSecond)
    // A point may stand for this many units of one kind.
    const points = [units.reads, units.writes].map((carried) => carried / UNITS_A_POINT)
    const quota = loadOf(stage).callsPerMinute / 60

    expect(clientCreateLimit).toBeLessThanOrEqual(Math.min(creates, table, quota) / 4)
    expect(clientRateLimit).toBeLessThanOrEqual(Math.min(...others, ...points) / 4)
  })
})

describe('the stations of AWS', () => {
  it('grow with the units that a stage warms, up to the maximum of its table', () => {
    const warmed = (units: number) =>
      carriedUnits(withTable(prod, { warm: { readUnits: units, writeUnits: units } }))

    expect(warmed(40_000)).toStrictEqual({ reads: 20_000, writes: 20_000 })
    expect(warmed(1)).toStrictEqual({ reads: 12_000, writes: 4_000 })
  })

  it('count every further endpoint of a payment', () => {
    const stations = (endpointsAPayment: number) =>
      stationsOf({ ...dev, deliveries: { endpointsAPayment, attemptMs: 300 } })

    expect(perSecond(stations(1), 'the write units')).toStrictEqual([44.8, 163.9, 163.9, 250, 125])
    expect(perSecond(stations(3), 'the write units')).toStrictEqual([33, 99, 163.9, 250, 71.4])
    expect(perSecond(stations(1), 'the hottest key (payments')).toStrictEqual([3200])
    expect(perSecond(stations(9), 'the hottest key (deliveries')).toStrictEqual([592.5])
  })

  it('count the runs of the account, and those that a stage reserves', () => {
    expect(perSecond(stationsOf({ ...dev, accountConcurrency: 10 }), 'the runs')).toStrictEqual([
      333.3, 5.6,
    ])
    expect(perSecond(stationsOf(prod), 'the runs')).toStrictEqual([
      333.3, 266.6, 1166.6, 500, 565.9,
    ])
  })

  it('are one client’s ledger, its conflicts at 30 and 15 ms, and one endpoint’s deliveries', () => {
    expect(perSecond(clientStations(), 'one ')).toStrictEqual([166, 88, 177, 500])
  })

  it('carry less with the audits of a year', () => {
    const [audited] = perSecond([auditStation(prod)], 'the read units')
    expect(audited).toBeLessThan(carriedUnits(prod).reads / PAYMENT_UNITS.reads / 2)
  })
})

it.each([...QUOTA_STAGES, ['more than it carries at', { ...dev, accountConcurrency: 1 }] as const])(
  'synth accepts a stage of %s times the published quota',
  (_, stage) => {
    expect(() => assertDeployable(stage)).not.toThrow()
  },
)
