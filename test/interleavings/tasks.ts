import { busyClient } from './busy-client.ts'
import { BACKED, GUARDS } from './guards.ts'
import { NO_BORDER, scheduleText, searchScenario } from './run-scenario.ts'
import { scenariosOf } from './scenarios.ts'
import type { Border } from './scheduler.ts'

/** One search: a scenario as it is, or without a guard. */
export type Task = {
  readonly scenario: string
  /** The guard that is taken out. */
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
  return guard?.border ?? NO_BORDER
}

let busy: ReturnType<typeof busyClient> | undefined

/** The busy client, made once, and its scenario of that name. */
export const scenarioNamed = async (name: string) => {
  busy ??= busyClient()
  const scenario = scenariosOf(await busy).find((one) => one.name === name)
  if (scenario === undefined) throw new Error(`there is no scenario: ${name}`)
  return { busy: await busy, scenario }
}

export const runTask = async (task: Task): Promise<TaskResult> => {
  const found = await scenarioNamed(task.scenario)
  const bounds = { ...found.scenario.bounds, schedules: task.schedules }
  const { schedules, isWhole, violation } = await searchScenario(found.busy, found.scenario, bounds, borderOf(task))
  return {
    ...task,
    ran: schedules,
    isWhole,
    problems: violation?.problems ?? [],
    schedule: violation && scheduleText(found.scenario, violation.taken),
  }
}
