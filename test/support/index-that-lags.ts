import { withRequests } from './intercept-table.ts'
import type { TestDeps } from './test-deps.ts'

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The same table, whose `by-paid` index still shows some payments with fields they no longer have. */
export const lateIndex = (deps: TestDeps, rows: Rows): TestDeps =>
  withRequests(deps, {
    ...deps.requests,
    query: async (input) => {
      const page = await deps.requests.query(input)
      if (input.index !== 'by-paid') return page
      return { ...page, items: page.items.map((item) => ({ ...item, ...rows[String(item['id'])] })) }
    },
  })
