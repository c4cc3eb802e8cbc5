import { API_FUNCTIONS } from '../../../functions/api-functions.ts'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { UNITS_A_POINT } from '../../../shared/client/enforce-rate-limit.ts'
import { type DeployedStage, loadOf } from '../stage.ts'
import { CREATE_ROUTE, throttleOf } from '../triggers/route-settings.ts'
import { PAYMENT_UNITS } from './payment-use.ts'
import { carriedUnits, lowestOf, type Station, stationsOf, tableStations } from './stations.ts'

/**
 * The table must carry this multiple of the payments that the API lets in: payments with more
 * fields, and failing deliveries, use more units.
 */
const RESERVE = 2

/**
 * Throws on a stage whose API lets in more payments than its table carries, or whose provider quota
 * exceeds what AWS carries. API Gateway must refuse the excess (429, nothing begun), not DynamoDB
 * or Lambda (500, half done). The pace of creates limits all later work of a payment.
 */
export function assertCarried(stage: DeployedStage): void {
  const { requestsPerSecond, burst } = throttleOf(stage, CREATE_ROUTE)
  const { callsPerMinute } = loadOf(stage)
  const carried = carriedUnits(stage)
  const burstProblem = (kind: 'reads' | 'writes'): string | undefined => {
    const units = burst * PAYMENT_UNITS.created[kind] * RESERVE
    if (units <= carried[kind]) return undefined
    return `a burst of ${burst} takes ${units} units of ${kind}, and the table carries ${carried[kind]}`
  }
  const throttled = `lower the throttle of ${CREATE_ROUTE}: with its reserve it is`
  throwProblems(stage, [
    shortageOf(throttled, requestsPerSecond * RESERVE, tableStations(stage)),
    burstProblem('writes'),
    burstProblem('reads'),
    shortageOf(
      `${callsPerMinute} calls of the provider a minute are`,
      callsPerMinute / 60,
      stationsOf(stage),
    ),
  ])
}

function throwProblems(
  { settings }: DeployedStage,
  problems: readonly (string | undefined)[],
): void {
  const texts = problems.filter((problem) => problem !== undefined)
  if (texts.length > 0) throw new Error(`stage ${settings.name}: ${texts.join('; ')}`)
}

/**
 * The stations that carry too little, each with its figure and remedy; undefined when all stations
 * carry enough.
 */
function shortageOf(
  wanted: string,
  perSecond: number,
  stations: readonly Station[],
): string | undefined {
  const small = stations
    .filter((station) => station.perSecond < perSecond)
    .map(({ name, perSecond: carries, remedy }) => `${name}: ${roundedDown(carries)} (${remedy})`)
  return small.length > 0
    ? `${wanted} ${roundedDown(perSecond)} payments a second. These carry less: ${small.join(', ')}`
    : undefined
}

function roundedDown(perSecond: number): number {
  return Math.floor(perSecond * 10) / 10
}

type Bound = Pick<Station, 'name' | 'perSecond'>

/**
 * Throws on a stage in which a client may use more than a quarter by default. An operator may grant
 * a client more.
 */
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
  throwProblems(stage, [
    quarterProblem('clientCreateLimit', clientCreateLimit, [
      boundOf(CREATE_ROUTE),
      ...tableStations(stage),
      { name: 'the quota of the provider', perSecond: loadOf(stage).callsPerMinute / 60 },
    ]),
    // A point may stand for this many units of one kind.
    quarterProblem('clientRateLimit', clientRateLimit, [
      ...routes.map(boundOf),
      { name: 'the write units of the table', perSecond: writes / UNITS_A_POINT },
      { name: 'the read units of the table', perSecond: reads / UNITS_A_POINT },
    ]),
  ])
}

const QUARTER = 1 / 4

function quarterProblem(
  name: string,
  limit: number | undefined,
  bounds: readonly Bound[],
): string | undefined {
  if (limit === undefined) return `${name} is missing`
  const lowest = lowestOf(bounds)
  const most = Math.max(1, Math.floor(lowest.perSecond * QUARTER))
  return limit > most ? `${name} is at most ${most}, a quarter of ${lowest.name}` : undefined
}
