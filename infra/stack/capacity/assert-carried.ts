import { API_FUNCTIONS } from '../../../functions/api-functions.ts'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { UNITS_A_POINT } from '../../../shared/client/enforce-rate-limit.ts'
import { type DeployedStage, loadOf } from '../stage.ts'
import { CREATE_ROUTE, throttleOf } from '../triggers/route-settings.ts'
import { PAYMENT_UNITS } from './payment-use.ts'
import { carriedUnits, lowest, type Station, stationsOf, tableStations } from './stations.ts'

/**
 * The table must carry this multiple of what the API lets in: payments with more fields, and failing deliveries, use
 * more.
 */
const RESERVE = 2

/**
 * Throws on a stage whose API lets in more payments than its table carries, or whose provider quota exceeds what AWS
 * carries. API Gateway must refuse the excess (429, nothing begun), not DynamoDB or Lambda (500, half done). The pace
 * of creates limits all later work of a payment.
 */
export function assertCarried(stage: DeployedStage): void {
  const { requestsPerSecond, burst } = throttleOf(stage, CREATE_ROUTE)
  const { callsPerMinute } = loadOf(stage)
  const carried = carriedUnits(stage)
  const burstOf = (kind: 'reads' | 'writes'): string | undefined => {
    const units = burst * PAYMENT_UNITS.created[kind] * RESERVE
    if (units <= carried[kind]) return undefined
    return `a burst of ${burst} takes ${units} units of ${kind}, and the table carries ${carried[kind]}`
  }
  const throttled = `lower the throttle of ${CREATE_ROUTE}: with its reserve it is`
  refuse(stage, [
    tooSmall(throttled, requestsPerSecond * RESERVE, tableStations(stage)),
    burstOf('writes'),
    burstOf('reads'),
    tooSmall(
      `${callsPerMinute} calls of the provider a minute are`,
      callsPerMinute / 60,
      stationsOf(stage),
    ),
  ])
}

function refuse({ settings }: DeployedStage, problems: readonly (string | undefined)[]): void {
  const refused = problems.filter((problem) => problem !== undefined)
  if (refused.length > 0) throw new Error(`stage ${settings.name}: ${refused.join('; ')}`)
}

/** The station that carries too little, with its number and the remedy; undefined when all carry enough. */
function tooSmall(
  wanted: string,
  perSecond: number,
  stations: readonly Station[],
): string | undefined {
  const small = stations
    .filter((station) => station.perSecond < perSecond)
    .map(({ name, perSecond: carries, remedy }) => `${name}: ${shown(carries)} (${remedy})`)
  return small.length > 0
    ? `${wanted} ${shown(perSecond)} payments a second. These carry less: ${small.join(', ')}`
    : undefined
}

function shown(perSecond: number): number {
  return Math.floor(perSecond * 10) / 10
}

type Bound = Pick<Station, 'name' | 'perSecond'>

/** Throws on a stage in which one client may use more than a quarter by default. An operator may grant one client more. */
export function assertClientLimits(stage: DeployedStage): void {
  const { clientRateLimit, clientCreateLimit } = stage.settings
  const { reads, writes } = carriedUnits(stage)
  const routes = API_FUNCTIONS.flatMap((spec) => routeKeyOf(spec) ?? []).filter(
    (route) => route !== CREATE_ROUTE,
  )
  const boundOf = (route: string): Bound => ({
    name: route,
    perSecond: throttleOf(stage, route).requestsPerSecond,
  })
  refuse(stage, [
    atMostAQuarter('clientCreateLimit', clientCreateLimit, [
      boundOf(CREATE_ROUTE),
      ...tableStations(stage),
      { name: 'the quota of the provider', perSecond: loadOf(stage).callsPerMinute / 60 },
    ]),
    // Each point may be that many units of one kind.
    atMostAQuarter('clientRateLimit', clientRateLimit, [
      ...routes.map(boundOf),
      { name: 'the write units of the table', perSecond: writes / UNITS_A_POINT },
      { name: 'the read units of the table', perSecond: reads / UNITS_A_POINT },
    ]),
  ])
}

/** The largest share of a stage that a client without its own limit may use. */
const QUARTER = 1 / 4

function atMostAQuarter(
  name: string,
  limit: number | undefined,
  bounds: readonly Bound[],
): string | undefined {
  if (limit === undefined) return `${name} is missing`
  const least = lowest(bounds)
  const most = Math.max(1, Math.floor(least.perSecond * QUARTER))
  return limit > most ? `${name} is at most ${most}, a quarter of ${least.name}` : undefined
}
