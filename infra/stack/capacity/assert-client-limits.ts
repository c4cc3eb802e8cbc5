import { API_FUNCTIONS } from '../../../functions/api-functions.ts'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { UNITS_A_POINT } from '../../../shared/client/enforce-rate-limit.ts'
import { type DeployedStage, loadOf } from '../stage.ts'
import { CREATE_ROUTE, throttleOf } from '../triggers/route-settings.ts'
import { carriedUnits, tableStations } from './stations.ts'

/** The largest share of a stage that a client without its own limit may use. */
const QUARTER = 1 / 4

type Bound = { readonly by: string; readonly perSecond: number }

/** The stations that limit one client's creates: the route, the table's keys, and the provider's quota. */
const boundsOfCreates = (stage: DeployedStage): readonly Bound[] => [
  { by: CREATE_ROUTE, perSecond: throttleOf(stage, CREATE_ROUTE).requestsPerSecond },
  ...tableStations(stage).map(({ name, perSecond }) => ({ by: name, perSecond })),
  { by: 'the quota of the provider', perSecond: loadOf(stage).callsPerMinute / 60 },
]

/** The stations that limit one client's points: each point may be that many units of one kind. */
const boundsOfPoints = (stage: DeployedStage): readonly Bound[] => {
  const { reads, writes } = carriedUnits(stage)
  const routes = API_FUNCTIONS.map(routeKeyOf).filter((route) => route !== undefined && route !== CREATE_ROUTE)
  return [
    ...routes.map((route) => ({ by: route ?? '', perSecond: throttleOf(stage, route ?? '').requestsPerSecond })),
    { by: 'the write units of the table', perSecond: writes / UNITS_A_POINT },
    { by: 'the read units of the table', perSecond: reads / UNITS_A_POINT },
  ]
}

const tooHigh = (name: string, limit: number, bounds: readonly Bound[]): string | undefined => {
  const least = bounds.reduce((one, other) => (other.perSecond < one.perSecond ? other : one))
  const most = Math.max(1, Math.floor(least.perSecond * QUARTER))
  return limit > most ? `${name} is at most ${most}, a quarter of ${least.by}` : undefined
}

/** Throws on a stage in which one client may use more than a quarter by default. An operator may grant one client more. */
export const assertClientLimits = (stage: DeployedStage): void => {
  const { clientRateLimit, clientCreateLimit } = stage.settings
  const refused = [
    clientCreateLimit === undefined
      ? 'clientCreateLimit is missing'
      : tooHigh('clientCreateLimit', clientCreateLimit, boundsOfCreates(stage)),
    clientRateLimit === undefined
      ? 'clientRateLimit is missing'
      : tooHigh('clientRateLimit', clientRateLimit, boundsOfPoints(stage)),
  ].filter((problem) => problem !== undefined)
  if (refused.length > 0) throw new Error(`stage ${stage.settings.name}: ${refused.join('; ')}`)
}
