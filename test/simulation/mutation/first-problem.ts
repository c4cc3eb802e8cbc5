import { parseArgs } from 'node:util'
import { awaitsOf, crashAt } from '../crashes/crash-points.ts'
import { FLOWS } from '../crashes/flows.ts'
import { runHistory } from '../histories/history.ts'
import { loadFunctions } from '../world/handlers.ts'
import { PROBLEM_FOUND } from './exit-codes.ts'

const OPERATIONS = 60

const { values } = parseArgs({ options: { seeds: { type: 'string' }, crashes: { type: 'string', multiple: true } } })

const functions = await loadFunctions()

const flowOf = (name: string) => {
  const flow = FLOWS.find((candidate) => candidate.name === name)
  if (!flow) throw new Error(`no flow is called "${name}"`)
  return flow
}

const ofCrashes = async (name: string): Promise<string | undefined> => {
  const flow = flowOf(name)
  for (const [at, label] of (await awaitsOf(functions, flow)).entries()) {
    for (const side of ['before', 'after'] as const) {
      const [problem] = (await crashAt(functions, flow, { await: at + 1, side })).problems
      if (problem !== undefined) return `"${name}" killed ${side} await ${at + 1} (${label}): ${problem}`
    }
  }
  return undefined
}

const ofHistories = async (range: string): Promise<string | undefined> => {
  const [from, to] = range.split('..').map(Number)
  for (let seed = from ?? 1; seed <= (to ?? 0); seed++) {
    const [problem] = (await runHistory({ seed, operations: OPERATIONS, functions })).problems
    if (problem !== undefined) return `seed ${seed}: ${problem}`
  }
  return undefined
}

const firstProblem = async (): Promise<string | undefined> => {
  for (const name of values.crashes ?? []) {
    const problem = await ofCrashes(name)
    if (problem !== undefined) return problem
  }
  return values.seeds === undefined ? undefined : ofHistories(values.seeds)
}

/** The first thing that is wrong, as one line; nothing when everything holds. A world that cannot begin is wrong too. */
const problem = await firstProblem().catch((error: unknown) => `the simulation threw ${String(error)}`)
if (problem !== undefined) {
  console.log(problem)
  process.exitCode = PROBLEM_FOUND
}
