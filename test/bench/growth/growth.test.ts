import { expect, it } from 'vitest'
import { growthReport } from './growth.ts'
import { measureMonthEnd } from './month-end.ts'

it('what must not grow with the payments of a client costs three hundred what it costs a hundred', async () => {
  expect(await growthReport([100, 300])).toMatchObject({ failures: [] })
})

it('the month end has a line for each merchant, and one for each settlement of the month', async () => {
  const commands = await measureMonthEnd(20, 5)

  // A merchant is settled every week, and its month of 31 days has four of the five; a tenth of them failed.
  expect(commands.map(({ command, lines }) => [command, lines - 1])).toStrictEqual([
    ['get-books --from --to --format csv', 21],
    ['list-settlements --from --to --format csv', 80],
    ['list-settlements --status failed --from --to --format csv', 8],
    ['get-books --from --to', -1],
  ])
})
