import { handler as getBooks } from '../../../functions/admin/get-books.ts'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import type { Client } from '../../../shared/client/client.ts'
import { bookDay } from '../../../shared/journal/day-totals.ts'
import { settleClient } from '../../../shared/settlement/settle-client.ts'
import { closeStep } from '../../../shared/settlement/settlement-store.ts'
import { addMs, DAY_MS, HOUR_MS } from '../../../shared/time.ts'
import { markdownTable } from '../../support/markdown-table.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { makePayments, meteredGateway } from './growth.ts'

/** One command of the month end: how many lines it wrote, in how long, by how many runs of its function. */
type Command = { readonly command: string } & Readonly<Record<'lines' | 'runs' | 'seconds' | 'reads', number>>

const WEEK_MS = 7 * DAY_MS
/** A month of 31 days. */
const MONTH_MS = 30 * DAY_MS

const COMMANDS = [
  ['get-books --from --to --format csv', getBooks, { format: 'csv' }],
  ['list-settlements --from --to --format csv', listSettlements, { format: 'csv' }],
  ['list-settlements --status failed --from --to --format csv', listSettlements, { format: 'csv', status: 'failed' }],
  ['get-books --from --to', getBooks, {}],
] as const

type Part = { readonly csv?: string; readonly cursor?: string; readonly balanced?: boolean }

/** A year in which so many clients are settled every week, and every tenth payout of a client fails; then the month end. */
export const measureMonthEnd = async (clients: number, weeks = 52): Promise<readonly Command[]> => {
  const { deps, meter } = meteredGateway()
  const { clock } = deps
  const all: Client[] = []
  for (let made = 0; made < clients; made++) {
    clock.set(addMs(clock.now(), 1))
    all.push(await aStoredClient(deps, { settlementFloorMinor: 0 as never }))
  }
  for (let week = 0; week < weeks; week++) {
    const paidAt = clock.now()
    clock.set(addMs(paidAt, DAY_MS + HOUR_MS))
    for (const [number, client] of all.entries()) {
      await makePayments(deps, client, 2, paidAt)
      const { settlement } = await settleClient(deps, client.clientId, { by: 'auto' })
      if (settlement === undefined) throw new Error('nothing was settled')
      const status = (number + week) % 10 === 0 ? 'failed' : 'manual_paid'
      await deps.table.write(closeStep({ ...settlement, status, settledAt: clock.now() }))
    }
    clock.set(addMs(paidAt, WEEK_MS))
  }
  const days = { from: bookDay(addMs(clock.now(), -MONTH_MS)), to: bookDay(clock.now()) }
  const measured: Command[] = []
  for (const [command, handler, input] of COMMANDS) {
    meter.take()
    const startedMs = performance.now()
    let [lines, runs, cursor]: [number, number, string | undefined] = [0, 0, undefined]
    do {
      const asked = { ...days, ...input, ...(cursor !== undefined && { cursor }) }
      const { status, body } = await invokeAdmin(handler, deps, asked)
      const part = body as Part
      if (status !== 200 || part.balanced === false) throw new Error(`${command}: ${JSON.stringify(body)}`)
      lines += (part.csv ?? '').split('\n').length - 1
      cursor = part.cursor
      runs++
    } while (cursor !== undefined)
    const seconds = (performance.now() - startedMs) / 1_000
    measured.push({ command, lines, runs, seconds, reads: meter.take().reads })
  }
  return measured
}

const CLIENTS = 1_000
/** The owner of the books waits at most so long for all of them. */
const MOST_SECONDS = 300

const rowOf = ({ command, lines, runs, seconds, reads }: Command) => [
  `\`${command}\``,
  lines === 0 ? '' : (lines - 1).toLocaleString('en'),
  String(runs),
  seconds.toFixed(1),
  Math.round(reads).toLocaleString('en'),
]

/** The commands of the month end on a year of made data, on the table in memory. */
export const monthEndReport = async (clients = CLIENTS) => {
  const commands = await measureMonthEnd(clients)
  const seconds = commands.reduce((sum, command) => sum + command.seconds, 0)
  const text = [
    `${clients.toLocaleString('en')} merchants, each settled every week of a year, on the table in memory:`,
    markdownTable(['Command', 'Lines', 'Runs', 'Seconds', 'Read units'], commands.map(rowOf)),
  ].join('\n\n')
  return { text, failures: seconds <= MOST_SECONDS ? [] : [`the month end takes ${Math.round(seconds)} seconds`] }
}
