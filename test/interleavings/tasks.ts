import { auditLedger } from '../../shared/audit/audit-client.ts'
import { GatewayError } from '../../shared/errors.ts'
import { moneyProblemsOf } from '../support/recount/invariants.ts'
import { type BusyClient, busyClient } from './busy-client.ts'
import { GUARDS } from './guards.ts'
import { baseOf, partialTable } from './partial-table.ts'
import { type Scenario, scenariosOf } from './scenarios.ts'
import { processDeps, type Ran, type Taken, type Waiting } from './scheduler.ts'
import { search } from './search.ts'

export type Task = {
  readonly scenario: string
  readonly without?: string
  readonly schedules: number
}

export type TaskResult = Task & {
  readonly ran: number
  readonly isWhole: boolean
  readonly problems: readonly string[]
  readonly schedule: readonly string[]
  readonly turns: string
}

let made: ReturnType<typeof busyClient> | undefined

export async function runTask(task: Task) {
  made ??= busyClient()
  const busy = await made
  const scenario = scenariosOf(busy).find(({ name }) => name === task.scenario)
  if (scenario === undefined) throw new Error(`there is no scenario: ${task.scenario}`)
  const guard = GUARDS.find(({ name }) => name === task.without)
  if (task.without !== undefined && guard === undefined)
    throw new Error(`there is no guard: ${task.without}`)
  const { base, now } = busy
  const { actions, steps, bounds } = scenario
  const setting = { base, now, actions: Object.values(actions), border: guard?.border ?? {}, steps }
  const limits = { ...bounds, schedules: task.schedules, first: guard?.first }
  const { schedules, isWhole, violation } = await search(setting, judgeOf(busy, scenario), limits)
  return {
    ...task,
    ran: schedules,
    isWhole,
    problems: violation?.problems ?? [],
    turns: violation?.turns ?? '',
    schedule: violation ? violation.taken.map(lineOf(Object.keys(scenario.actions))) : [],
  }
}

/** Judges by a recount that shares no code with the gateway, and by the client's whole audit. */
function judgeOf({ client: { clientId } }: BusyClient, { steps }: Scenario) {
  const known = new Map<string, readonly string[]>()

  const judgeBooks = async ({ table, now }: Ran) => {
    const items = table.items()
    const requests = partialTable(baseOf(items)).requestsWith('all')
    const deps = processDeps('judge', {
      requests,
      now: () => now,
      sleep: async () => undefined,
      steps,
    })
    const audited = await auditLedger(deps, clientId)
    return [
      ...moneyProblemsOf(items, steps?.block),
      ...audited.differences.map((difference) => `audit: ${JSON.stringify(difference)}`),
      ...(audited.balanced === 'inconclusive' ? ['audit: inconclusive'] : []),
    ]
  }

  return async (ran: Ran) => {
    const state = JSON.stringify(ran.table.changed())
    const books = known.get(state) ?? (await judgeBooks(ran))
    known.set(state, books)
    return [...ran.errors.flatMap(errorProblem), ...books]
  }
}

/** A refusal that names its reason is an answer. Every other error of an action is a problem. */
function errorProblem(error: unknown) {
  return error === undefined || isAllowed(error)
    ? []
    : [`an action ends with ${error instanceof Error ? error : 'what is no error'}`]
}

function isAllowed(error: unknown) {
  if (error instanceof GatewayError && error.code === 'conflict')
    return error.message.endsWith('try again')
  // No race can cause this refusal: it means that the audit is wrong about a client whose books are
  // right.
  if (error instanceof GatewayError && error.code === 'validation')
    return !error.message.startsWith('the books of this client')
  // Concurrent runs end without a result: the queue sends the message again.
  return (
    error instanceof Error && error.message === 'a settlement window kept moving while it was swept'
  )
}

/**
 * Which action makes which request. A transaction's items are visible at once, or only its first or
 * last item.
 */
function lineOf(names: readonly string[]) {
  return ({ action, visible, call }: Taken) =>
    action === 'show' || call === undefined
      ? 'the rest becomes visible'
      : `${names[action]} (${visible} visible): ${callText(call)}`
}

function callText(call: Waiting) {
  if ('ms' in call) return `sleep ${call.ms} ms`
  if ('keys' in call)
    return `${call.name} ${call.keys.map(({ pk, sk }) => `${pk} ${sk}`).join(', ')}`
  if ('query' in call) return `query ${call.query.index ?? ''} ${call.query.partition.join(' ')}`
  return `${call.name} ${call.steps.map(({ kind, key: { pk, sk } }) => `${kind} ${pk} ${sk}`).join(', ')}`
}
