import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readOptions, runProgram } from '../../infra/local/terminal/command-line.ts'
import { runForked } from '../simulation/world/fork-pool.ts'
import { busyClient } from './busy-client.ts'
import { GUARDS } from './guards.ts'
import { scenariosOf } from './scenarios.ts'
import type { Task, TaskResult } from './tasks.ts'

/**
 * The search of a large scenario ends after so many schedules, those with the fewest preemptions.
 */
const MAX_SCHEDULES = 6_000
/** The search notices a removed guard much earlier. */
const MAX_WITHOUT = 1_500

const USAGE = `npm run interleavings [-- --scenario NAME]

Runs the real code of two to four actions on one client, in every order of their table requests with at most two
preemptions. Transactions become visible item by item. Audit and recount judge each end. Then it removes each guard, and
must find a schedule that goes wrong. It takes some minutes on two cores.
  --scenario NAME   only those with these words in their names, without the guards
  --help, -h        this text
Exit code: 0 no violation, and every guard is necessary, 1 otherwise, 2 wrong arguments.`

await runProgram(USAGE, async (argv) => {
  const { scenario } = readOptions(argv, { scenario: { type: 'string' } })
  const names = scenariosOf(await busyClient()).map(({ name }) => name)
  const chosen = names.filter((name) => name.includes(scenario ?? ''))
  // Long scenarios come first, so that no process runs a long scenario alone at the end.
  const scenarios = chosen
    .toReversed()
    .map((name) => ({ scenario: name, schedules: MAX_SCHEDULES }))
  const without = GUARDS.map((guard) => ({
    scenario: guard.scenario,
    without: guard.name,
    schedules: MAX_WITHOUT,
  }))
  return searchAll(scenario === undefined ? [...scenarios, ...without] : scenarios)
})

async function searchAll(tasks: readonly Task[]) {
  const startedAt = performance.now()
  const results: TaskResult[] = []
  await runForked(
    join(import.meta.dirname, 'task-worker.ts'),
    tasks,
    availableParallelism(),
    (answered) => {
      const result = answered as TaskResult
      results.push(result)
      report(result)
    },
    (task, reason) => {
      throw new Error(`${JSON.stringify(task)}: ${reason}`)
    },
  )
  const bad = results.filter((result) => !isAsItMust(result)).length
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  const schedules = results.reduce((sum, { ran }) => sum + ran, 0)
  const guards = results.filter(({ without }) => without !== undefined).length
  const scenarios = results.length - guards
  console.log(
    `${scenarios} scenarios and ${guards} guards taken out: ${count(schedules)} schedules in ${minutes} min, ${bad} not as they must be`,
  )
  return bad === 0 ? 0 : 1
}

function report(result: TaskResult) {
  const { scenario, without, ran, isWhole, problems, turns } = result
  const [holds, found] = problems.length > 0 ? ['VIOLATED', 'found'] : ['holds', 'not found']
  const outcome = without === undefined ? `${scenario}: ${holds}` : `  without ${without}: ${found}`
  console.log(
    `${outcome}, ${count(ran)} schedules${isWhole ? ', all of them' : ''} ${turns}`.trim(),
  )
  if (isAsItMust(result)) return
  for (const line of [...result.schedule, ...result.problems]) console.log(`    ${line}`)
}

function count(value: number) {
  return value.toLocaleString('en')
}

/** A scenario must hold. Without a guard it must fail. */
function isAsItMust({ problems, without }: TaskResult) {
  return problems.length > 0 === (without !== undefined)
}
