import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { API } from '../../support/api-event.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { withWritten } from '../../written-part.ts'
import { measureRequests, type RequestCost, requestsReport } from './requests.ts'

let costs: readonly RequestCost[]

beforeAll(async () => {
  costs = await measureRequests()
}, 300_000)

it('docs/reliability.md says what the dearest request of every route costs; otherwise: npm run bench -- requests --write', () => {
  const document = readFileSync(join(PROJECT_ROOT, 'docs/reliability.md'), 'utf8')

  expect(withWritten(document, 'bench', requestsReport(costs), 'requests')).toBe(document)
})

it('every route has its dearest request', () => {
  const routes = new Set(costs.map(({ request }) => request.split(': ')[0]))

  expect(routes).toStrictEqual(new Set(Object.values(API).map(({ route }) => route)))
})
