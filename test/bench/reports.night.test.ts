import { expect, it } from 'vitest'
import { MANIFEST } from '../../functions/manifest.ts'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { API } from '../support/api-event.ts'
import { matchesIn } from '../support/document-blocks.ts'
import { projectText } from '../support/source-file.ts'
import { growthReport } from './growth.ts'
import { measureRequests, requestsReport } from './requests/requests.ts'
import { measureLives } from './units/measure-lives.ts'
import { measureUnits, unitsReport } from './units/measure-units.ts'

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

const paid = await measureLives()

it('docs/performance.md has what `npm run bench -- units --write` writes', async () => {
  const document = projectText('docs/performance.md')
  const { flows } = await measureUnits()

  expect(withWritten(document, 'bench', unitsReport(flows, paid), 'units')).toBe(document)
})

it.each(['BCA', 'QRIS', 'DANA', 'OVO'])(
  'a payment that is paid by %s with the fields of a shop takes at most 45 and 11 units in a burst, and with no fields 44',
  (channel) => {
    const [none, shop] = paid.lives.filter((life) => life.channel === channel)

    expect([none?.fields, shop?.fields]).toStrictEqual(['none', 'of a shop'])
    expect(none?.writes).toBeLessThanOrEqual(44)
    expect(shop?.writes).toBeLessThanOrEqual(45)
    expect(shop?.reads).toBeLessThanOrEqual(11)
  },
)

it.each([
  ['one a minute', 47, 11],
  ['one an hour', 60, 18],
])(
  'a payment that is alone, %s, adds at most %d write units and %d read units',
  (pace, writes, reads) => {
    const life = paid.lives.find((one) => one.pace === pace)

    expect(life?.writes).toBeLessThanOrEqual(writes)
    expect(life?.reads).toBeLessThanOrEqual(reads)
  },
)
