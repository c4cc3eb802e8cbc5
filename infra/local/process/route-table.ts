/**
 * Finds a request's entry as API Gateway finds a route, such as `GET /v1/payments/{id}`. Method and
 * path are case-sensitive. A `{name}` matches one segment that is not empty, and a fixed segment
 * has precedence. A trailing slash makes another path.
 */
export function routeTable<Entry>(table: Readonly<Record<string, Entry>>) {
  const routes = Object.entries(table)
    // `{` sorts after every letter and digit, so fixed segments come first.
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([routeKey, entry]) => {
      return {
        routeKey,
        entry,
        pattern: new RegExp(`^${routeKey.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
      }
    })
  return (method: string, path: string) => {
    for (const { routeKey, entry, pattern } of routes) {
      const match = pattern.exec(`${method} ${path}`)
      if (match) return { routeKey, entry, pathParameters: decodedParameters(match.groups ?? {}) }
    }
    return undefined
  }
}

function decodedParameters(
  segments: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(segments).map(([name, segment]) => [name, decodedSegment(segment)]),
  )
}

/** A broken escape stays, and then matches no id. */
function decodedSegment(segment: string) {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
