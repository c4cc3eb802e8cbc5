import { auditLedger } from '../../shared/audit/audit-ledger.ts'
import { GatewayError } from '../../shared/errors.ts'
import type { ClientId } from '../../shared/ids.ts'
import type { HistorySteps } from '../../shared/stage-settings.ts'
import { amount, booksOf, clientOf, type RawItem } from '../support/recount/books.ts'
import { moneyProblemsOf } from '../support/recount/invariants.ts'
import { baseOf } from './forked-view.ts'
import { partialTable } from './partial-table.ts'
import { processDeps } from './process-deps.ts'
import type { Ran } from './scheduler.ts'

/** Refusals that no other operator and no row can cause: an audit that is wrong about a client. */
const NEVER = /^the books of this client/

/** Runs that overtake one another give up: the queue sends the message again. */
const OVERTAKEN = 'a settlement window kept moving while it was swept'

const isAllowed = (error: unknown): boolean => {
  if (error instanceof GatewayError && error.code === 'conflict') return error.message.endsWith('try again')
  if (error instanceof GatewayError && error.code === 'validation') return !NEVER.test(error.message)
  return error instanceof Error && error.message === OVERTAKEN
}

/** A refusal that names its reason is an answer. Everything else that an action ends with is a problem. */
const errorProblem = (error: unknown): readonly string[] =>
  error === undefined || isAllowed(error)
    ? []
    : [`an action ends with ${error instanceof Error ? error : 'what is no error'}`]

/** What the house gave up is never taken back twice. */
const writtenOffProblems = (items: readonly RawItem[]): readonly string[] =>
  booksOf(items)
    .windows.filter((window) => amount(window, 'written_off_minor') < 0)
    .map((window) => `${clientOf(window)}: less than nothing is written off`)

/** Judges the ends of schedules: by a recount that shares nothing with the gateway, and by the whole audit of the client. */
export const judgeOf = (clientId: ClientId, steps: HistorySteps | undefined) => {
  const known = new Map<string, readonly string[]>()

  const judgeBooks = async ({ table, now }: Ran): Promise<readonly string[]> => {
    const items = table.items()
    const requests = partialTable(baseOf(items)).requestsWith('all')
    const deps = processDeps('judge', { requests, now: () => now, sleep: async () => undefined, steps })
    const audited = await auditLedger(deps, clientId)
    return [
      ...moneyProblemsOf(items, steps?.block),
      ...writtenOffProblems(items),
      ...audited.differences.map((difference) => `audit: ${JSON.stringify(difference)}`),
      ...(audited.balanced === 'inconclusive' ? ['audit: inconclusive'] : []),
    ]
  }

  return async (ran: Ran): Promise<readonly string[]> => {
    const state = JSON.stringify(ran.table.changed())
    const books = known.get(state) ?? (await judgeBooks(ran))
    known.set(state, books)
    return [...ran.errors.flatMap(errorProblem), ...books]
  }
}
