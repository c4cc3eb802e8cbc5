/**
 * Finds the entry for a request in a table with keys such as `GET /v3/payments/{id}`, and the id that the path has at
 * that place. Undefined if no key fits.
 */
export const callsByRoute = <Entry>(table: Readonly<Record<string, Entry>>) => {
  const routes = Object.entries(table).map(([name, entry]) => {
    return { name, entry, pattern: new RegExp(`^${name.replace('{id}', '([^/]+)')}$`) }
  })
  return (method: string, path: string) => {
    for (const { name, entry, pattern } of routes) {
      const match = pattern.exec(`${method} ${path}`)
      if (match) return { name, entry, id: match[1] ?? '' }
    }
    return undefined
  }
}
