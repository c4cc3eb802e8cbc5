import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { DeployedStage } from '../stage.ts'
import type { Throttle } from '../stage-file.ts'

/** Where payments come in. */
export const CREATE_ROUTE = 'POST /v1/payments'

/** What the stage lets through on a route, which is its own or the one of all others. */
export const throttleOf = (
  { throttle, routeThrottles }: Pick<DeployedStage, 'throttle' | 'routeThrottles'>,
  routeKey: string,
): Throttle => routeThrottles[routeKey] ?? throttle

/**
 * The stage's throttles of single routes, as API Gateway spells them; undefined when there are none. Throws on a route
 * that no function of the manifest answers: its throttle would protect nothing. A route that is removed from the
 * manifest must lose its throttle in an earlier deployment, since API Gateway keeps looking for it.
 */
export const routeSettings = ({
  routeThrottles: throttles,
}: DeployedStage): Readonly<Record<string, object>> | undefined => {
  const routes = new Set(MANIFEST.map(routeKeyOf))
  const unknown = Object.keys(throttles).filter((route) => !routes.has(route))
  if (unknown.length > 0) throw new Error(`routeThrottles: no function answers ${unknown.join(', ')}`)
  const settings = Object.entries(throttles).map(([route, { requestsPerSecond, burst }]) => [
    route,
    {
      ThrottlingRateLimit: requestsPerSecond,
      ThrottlingBurstLimit: burst,
      // A route with settings of its own takes none from the stage's default.
      DetailedMetricsEnabled: false,
    },
  ])
  return settings.length > 0 ? Object.fromEntries(settings) : undefined
}
