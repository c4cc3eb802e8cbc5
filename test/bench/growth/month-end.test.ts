import { expect, it } from 'vitest'
import { measureMonthEnd } from './measure-month-end.ts'

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
