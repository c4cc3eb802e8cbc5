import { auditLedger } from '../../shared/audit/run-audits.ts'
import { GatewayError } from '../../shared/errors.ts'
import { moneyProblemsOf } from '../support/recount/invariants.ts'
import { type BusyClient, busyClient } from './busy-client.ts'
import { BACKED, GUARDS } from './guards.ts'
import { baseOf, partialTable } from './partial-table.ts'
import { type Scenario, scenariosOf } from './scenarios.ts'
import { type Border, processDeps, type Ran, runSchedule, type Setting, type Taken, type Waiting } from './scheduler.ts'
import { search } from './search.ts'

/** One search: a scenario as it is, or without a guard. */
export type Task = {
  readonly scenario: string
  /** The guard that is removed. */
  readonly without?: string
  /** Schedules at most. */
  readonly schedules: number
}

export type TaskResult = Task & {
  readonly ran: number
  /** Every schedule within the scenario's bounds was looked at. */
  readonly isWhole: boolean
  readonly problems: readonly string[]
  /** The schedule that shows them. */
  readonly schedule: string | undefined
}

const ALL_GUARDS = [...GUARDS, ...BACKED]

const borderOf = ({ without }: Task): Border => {
  const guard = ALL_GUARDS.find(({ name }) => name === without)
  if (without !== undefined && guard === undefined) throw new Error(`there is no guard: ${without}`)
  return guard?.border ?? {}
}

let made: ReturnType<typeof busyClient> | undefined

/** The busy client, made once, and its scenario of that name. */
export const scenarioNamed = async (name: string) => {
  made ??= busyClient()
  const busy = await made
  const scenario = scenariosOf(busy).find((one) => one.name === name)
  if (scenario === undefined) throw new Error(`there is no scenario: ${name}`)
  return { busy, scenario }
}

export const runTask = async (task: Task): Promise<TaskResult> => {
  const { busy, scenario } = await scenarioNamed(task.scenario)
  const { schedules, isWhole, violation } = await search(
    settingOf(busy, scenario, borderOf(task)),
    judgeOf(busy, scenario),
    { ...scenario.bounds, schedules: task.schedules },
  )
  return {
    ...task,
    ran: schedules,
    isWhole,
    problems: violation?.problems ?? [],
    schedule: violation && scheduleText(scenario, violation.taken),
  }
}

const settingOf = ({ base, now }: BusyClient, { actions, steps }: Scenario, border: Border = {}): Setting => ({
  base,
  now,
  actions: Object.values(actions),
  border,
  steps,
})

const MARKS = { all: '', first: '~first', last: '~last' } as const

/** What a schedule's text calls one thing that happens. */
const wordOf =
  (names: readonly string[]) =>
  ({ action, visible }: Pick<Taken, 'action' | 'visible'>): string =>
    `${action === 'show' ? 'show' : names[action]}${MARKS[visible]}`

/** A schedule as text: which action has how many requests; `~first` and `~last`: only that item is visible at once. */
const scheduleText = ({ actions }: Scenario, taken: readonly Taken[]): string => {
  const names = Object.keys(actions)
  const words = taken.map(wordOf(names))
  const runs: { readonly word: string; times: number }[] = []
  for (const word of words) {
    const last = runs.at(-1)
    if (last?.word === word) last.times++
    else runs.push({ word, times: 1 })
  }
  return runs.map(({ word, times }) => `${word} × ${times}`).join(', ')
}

const callText = (call: Waiting): string => {
  if ('ms' in call) return `sleep ${call.ms} ms`
  if ('keys' in call) return `${call.name} ${call.keys.map(({ pk, sk }) => `${pk} ${sk}`).join(', ')}`
  if ('query' in call) return `query ${call.query.index ?? ''} ${call.query.partition.join(' ')}`
  return `${call.name} ${call.steps.map(({ kind, key: { pk, sk } }) => `${kind} ${pk} ${sk}`).join(', ')}`
}

/** Runs one schedule again, as its text says. Throws when the actions no longer make the requests of the text. */
export const replay = async (busy: BusyClient, scenario: Scenario, text: string) => {
  const names = Object.keys(scenario.actions)
  const words = text.split(', ').flatMap((run) => {
    const [word = '', times = '1'] = run.split(' × ')
    return Array.from({ length: Number(times) }, () => word)
  })
  const ran = await runSchedule(settingOf(busy, scenario), (options) => {
    const word = words.shift()
    const next = options.find((option) => wordOf(names)(option) === word)
    if (next === undefined) throw new Error(`the schedule does not go on with ${word ?? 'nothing'}`)
    return next
  })
  if (ran === undefined || words.length > 0) throw new Error('the actions end before the schedule does')
  const lines = ran.taken.map(
    (taken) =>
      `${wordOf(names)(taken)}: ${taken.call === undefined ? 'the rest becomes visible' : callText(taken.call)}`,
  )
  return { lines, problems: await judgeOf(busy, scenario)(ran) }
}

/** No race can cause this refusal: it means that the audit is wrong about a client whose books are right. */
const NEVER = /^the books of this client/

/** Concurrent runs end without a result: the queue sends the message again. */
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

/** Judges the ends of schedules: by a recount that shares nothing with the gateway, and by the whole audit of the client. */
const judgeOf = ({ client: { clientId } }: BusyClient, { steps }: Scenario) => {
  const known = new Map<string, readonly string[]>()

  const judgeBooks = async ({ table, now }: Ran): Promise<readonly string[]> => {
    const items = table.items()
    const requests = partialTable(baseOf(items)).requestsWith('all')
    const deps = processDeps('judge', { requests, now: () => now, sleep: async () => undefined, steps })
    const audited = await auditLedger(deps, clientId)
    return [
      ...moneyProblemsOf(items, steps?.block),
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
