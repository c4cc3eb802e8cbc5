import { expect, it } from 'vitest'
import { MANIFEST } from '../../functions/manifest.ts'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { API } from '../support/api-event.ts'
import { matchesIn } from '../support/document-blocks.ts'
import { projectText } from '../support/source-file.ts'
import { growthReport } from './growth.ts'
import { measureRequests, requestsReport } from './requests/requests.ts'

it('docs/reliability.md has the cost of each route’s most expensive request: `npm run bench -- requests --write`', async () => {
  const document = projectText('docs/reliability.md')
  const costs = await measureRequests()

  expect(withWritten(document, 'bench', requestsReport(costs), 'requests')).toBe(document)
  const routes = costs.map(({ request }) => request.split(': ')[0])
  expect(new Set(routes)).toStrictEqual(new Set(Object.values(API).map(({ route }) => route)))
})

it('the starts in docs/performance.md are those of every function: `npm run bench -- start --write`', () => {
  const counts = matchesIn(
    projectText('docs/performance.md'),
    /^Over the aim .* of (\d+) functions/gm,
  )

  expect(counts.map(Number)).toStrictEqual([MANIFEST.length])
})

it('actions that must not grow with payments cost the same for 300 payments as for 100', async () => {
  expect(await growthReport([100, 300])).toMatchObject({ failures: [] })
})
