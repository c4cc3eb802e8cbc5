import type { FunctionSpec } from '../../../functions/function-spec.ts'
import type { MatchedRoute } from './http-event.ts'

export type RouteMatch<Target> = MatchedRoute & { readonly target: Target }

type Routed = { readonly spec: FunctionSpec }

/**
 * Finds the function of a request as API Gateway does. Method and path are case-sensitive. A `{name}` matches one
 * segment that is not empty, and a fixed segment wins over it. A trailing slash makes another path. A request without a
 * route goes to the default route's function.
 */
export const routeTable = <Target extends Routed>(targets: readonly Target[]) => {
  const routes = targets.flatMap((target) => {
    const { trigger } = target.spec
    return trigger.kind === 'http'
      ? [{ target, method: trigger.method, path: trigger.path, segments: trigger.path.split('/') }]
      : []
  })
  // `{` sorts after every letter and digit, so fixed segments come first.
  routes.sort((a, b) => (a.path < b.path ? -1 : 1))
  const fallback = targets.find(({ spec }) => spec.trigger.kind === 'http-default')

  return (method: string, path: string): RouteMatch<Target> | undefined => {
    const given = path.split('/')
    for (const route of routes) {
      if (route.method !== method) continue
      const pathParameters = matchSegments(route.segments, given)
      if (pathParameters) return { target: route.target, routeKey: `${route.method} ${route.path}`, pathParameters }
    }
    return fallback && { target: fallback, routeKey: '$default', pathParameters: {} }
  }
}

const matchSegments = (wanted: readonly string[], given: readonly string[]): Record<string, string> | undefined => {
  if (wanted.length !== given.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [at, segment] of wanted.entries()) {
    const value = given[at] ?? ''
    const name = /^\{(\w+)\}$/.exec(segment)?.[1]
    if (name === undefined ? segment !== value : value === '') return undefined
    if (name !== undefined) parameters[name] = decodeSegment(value)
  }
  return parameters
}

/** Decodes percent-encoding. A segment with a broken escape stays unchanged, and then matches no id. */
export const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
