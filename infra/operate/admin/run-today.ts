import * as v from 'valibot'
import { DAY_MS } from '../../../shared/time.ts'
import { type Output, printableLine } from '../../local/terminal/printable.ts'
import type { Payload } from './action-command.ts'
import { InvocationFailed } from './invoke-action.ts'
import { renderRefusal, tableOf, withCommands } from './render-reply.ts'

/** A question of the day: which rows of an action's answer wait for an operator. */
type Look = {
  readonly what: string
  readonly action: string
  readonly payload: Payload
  readonly member: 'data' | 'differences'
  readonly columns: readonly string[]
  readonly waits?: (row: Row) => boolean
}
type Row = Readonly<Record<string, unknown>>

const SETTLEMENTS = ['id', 'client_id', 'net_minor', 'period_end', 'bank_name']
/** Without a first day, the action omits what ended last month. */
const DAYS_BACK = 60
const FIRST_DAY = new Date(Date.now() - DAYS_BACK * DAY_MS).toISOString().slice(0, 10)
const SUSPENSE = ['suspense_id', 'cause', 'amount_minor', 'payment_id', 'created_at']
const MOST = { per_page: 100 }
const RECORDED = {
  action: 'list-settlements',
  payload: { status: 'recorded', ...MOST },
  member: 'data',
} as const
const ITEMS = { action: 'list-suspense', member: 'data' } as const

const LOOKS: readonly Look[] = [
  {
    what: 'Settlements to pay out, which wait for payout-file',
    ...RECORDED,
    columns: SETTLEMENTS,
    waits: (row) => row['batch'] === null,
  },
  {
    what: 'Of these, what needs bank details or an approval',
    ...RECORDED,
    columns: ['id', 'warning'],
    waits: (row) => row['batch'] === null && row['warning'] !== null,
  },
  {
    // A settlement keeps the number of a cancelled batch until the next batch.
    what: 'Settlements of a batch, which wait for payout-answer, or payout-file if it is cancelled',
    ...RECORDED,
    columns: ['batch', 'id', 'client_id', 'net_minor', 'bank_name'],
    waits: (row) => row['batch'] !== null,
  },
  {
    what: `Payouts of ${DAYS_BACK} days that failed and wait for recredit-settlement`,
    action: 'list-settlements',
    payload: { status: 'failed', from: FIRST_DAY },
    member: 'data',
    columns: SETTLEMENTS,
    waits: (row) => row['recredited_at'] === null,
  },
  {
    what: 'Cases to answer',
    ...ITEMS,
    payload: { status: 'open', kind: 'case', ...MOST },
    columns: ['due_at', 'state', ...SUSPENSE],
  },
  {
    what: 'Money in suspense',
    ...ITEMS,
    payload: { status: 'open', kind: 'money', ...MOST },
    columns: SUSPENSE,
  },
  {
    what: 'Findings to explain',
    ...ITEMS,
    payload: { status: 'open', kind: 'finding', ...MOST },
    columns: SUSPENSE,
  },
  {
    what: 'Differences of the books',
    action: 'get-books',
    payload: {},
    member: 'differences',
    columns: [],
  },
]

const Answer = v.object({ status: v.number(), body: v.record(v.string(), v.unknown()) })
const Rows = v.fallback(v.array(v.record(v.string(), v.unknown())), [])
const Ids = v.fallback(v.array(v.string()), [])

/**
 * What waits for an operator today, by actions that change nothing. A question that is refused or
 * fails stops no other one. Answers whether all were answered, and all rows were read.
 */
export async function runToday(
  stage: string,
  ask: (action: string, payload: Payload) => Promise<unknown>,
  io: Output,
) {
  // Three looks ask the same.
  const answers = new Map<Payload, unknown>()
  const unreadable = new Map<string, Set<string>>()
  const unfinished = new Set<string>()
  const problems = new Set<string>()
  for (const { what, action, payload, member, columns, waits = () => true } of LOOKS) {
    const answer = answers.get(payload) ?? (await ask(action, payload))
    answers.set(payload, answer)
    if (answer instanceof InvocationFailed) {
      problems.add(printableLine(answer.message))
      continue
    }
    const { status, body } = v.parse(Answer, answer)
    if (status >= 400) {
      problems.add(renderRefusal(action, stage, { status, body }))
      continue
    }
    // Several looks may name the same row, because its kind cannot be read.
    const ids = v.parse(Ids, body['unreadable_ids'])
    unreadable.set(action, new Set([...(unreadable.get(action) ?? []), ...ids]))
    const all = v.parse(Rows, body[member])
    const rows = all.filter(waits)
    const isPart = body['complete'] === false
    if (isPart) unfinished.add(action)
    const isFull = all.length + ids.length >= Number(payload['per_page'])
    const first = isFull ? ` of the first ${all.length}` : ''
    const more = first || (isPart ? ' of those that were read' : '')
    io.out(printableLine(`${what}: ${rows.length === 0 ? 'none' : rows.length}${more}`))
    // A table shortens the texts of columns that are chosen for it.
    const shown = rows.map((row) =>
      columns.length > 0 ? Object.fromEntries(columns.map((name) => [name, row[name]])) : row,
    )
    if (rows.length > 0) io.out(`${tableOf(shown, undefined)}\n`)
  }
  for (const [action, ids] of unreadable) {
    if (ids.size === 0) continue
    const named = `${action}: rows that cannot be read, and may wait too: ${[...ids].join(', ')}.`
    problems.add(printableLine(`${named} Give the ids to the owner of the code.`))
  }
  for (const action of unfinished) {
    const all = `Older rows may wait too: ${action} --status open shows all, page by page.`
    problems.add(printableLine(`${action} did not read all rows. ${withCommands(all, stage)}`))
  }
  for (const problem of problems) io.err(problem)
  return problems.size === 0
}
