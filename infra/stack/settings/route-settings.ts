import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { DeployedStage } from '../stage.ts'

/** The route that creates payments. */
export const CREATE_ROUTE = 'POST /v1/payments'

/**
 * The stage's throttles of single routes, in the format of API Gateway; undefined without any.
 * Throws for a route that is not in the manifest. Before a route leaves the manifest, an earlier
 * deployment must remove its throttle, because API Gateway looks for the route.
 */
export function routeSettings({
  routeThrottles: throttles,
}: DeployedStage): Readonly<Record<string, object>> | undefined {
  const routes = new Set(MANIFEST.map(routeKeyOf))
  const unknownRoutes = Object.keys(throttles).filter((route) => !routes.has(route))
  if (unknownRoutes.length > 0)
    throw new Error(`routeThrottles: no function answers ${unknownRoutes.join(', ')}`)
  const settings = Object.entries(throttles).map(([route, { requestsPerSecond, burst }]) => [
    route,
    {
      ThrottlingRateLimit: requestsPerSecond,
      ThrottlingBurstLimit: burst,
      // A route with its own settings inherits nothing.
      DetailedMetricsEnabled: false,
    },
  ])
  return settings.length > 0 ? Object.fromEntries(settings) : undefined
}

export function throttleOf({ throttle, routeThrottles }: DeployedStage, routeKey: string) {
  return routeThrottles[routeKey] ?? throttle
}
