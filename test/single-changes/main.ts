/**
 * The goal and method of `single-changes.test.ts`, with each change: the audits of the client and
 * of the house must name the row.
 */
import { readOptions, runProgram } from '../../infra/local/terminal/command-line.ts'
import { isFound, isUnexpected, MOST_NOT_FOUND } from './not-found.ts'
import { roleOf } from './registry.ts'
import { restingClient } from './resting-client.ts'
import { audited, differencesAtRest, type Outcome } from './sweep.ts'

const USAGE = `npm run single-changes [-- [--only TEXT] [--all]]

Changes every stored attribute of a client that has been through everything, one at a time, and audits each time.
Prints what is missed, what is only found by another row, and what throws.
  --only TEXT  the kinds whose name contains this text
  --all        also prints what is found by another row
  --help, -h   this text
Exit code: 0 everything but facts and changing attributes is found, and at most ${MOST_NOT_FOUND} changes are not,
  1 otherwise, 2 wrong arguments.`

await runProgram(USAGE, async (argv) => {
  const { only, all } = readOptions(argv, {
    only: { type: 'string', default: '' },
    all: { type: 'boolean', default: false },
  })
  const world = await restingClient()
  const atRest = await differencesAtRest(world)
  if (atRest.length > 0) throw new Error(`the client is not balanced: ${JSON.stringify(atRest)}`)
  const outcomes: Outcome[] = []
  for (const change of world.changes.filter(({ kind }) => kind.includes(only)))
    outcomes.push(await audited(world, change))
  const wanted = ['missed', 'inconclusive', 'thrown', ...(all ? ['found'] : [])]
  for (const outcome of wanted) print(outcomes, outcome)
  const counts = Map.groupBy(outcomes, ({ outcome }) => outcome)
  console.log([...counts].map(([name, { length }]) => `${name}: ${length}`).join(', '))
  const unexpected = outcomes.filter(isUnexpected)
  print(
    unexpected.map((one) => ({ ...one, outcome: 'missed' })),
    'missed',
  )
  const notFound = outcomes.filter((one) => !isFound(one)).length
  console.log(`not found: ${notFound} of ${outcomes.length}, at most ${MOST_NOT_FOUND}`)
  return unexpected.length > 0 || notFound > MOST_NOT_FOUND ? 1 : 0
})

function print(outcomes: readonly Outcome[], outcome: string) {
  const chosen = outcomes.filter((one) => one.outcome === outcome)
  const groups = Map.groupBy(
    chosen,
    ({ kind, attribute = 'row' }) => `${kind}.${attribute} (${roleOf(kind, attribute) ?? '-'})`,
  )
  for (const [name, changes] of groups) {
    const says = outcome === 'missed' ? '' : ` ${changes[0]?.says.slice(0, 150)}`
    console.log(
      `${outcome} ${name}: ${changes.map(({ what }) => what.slice(0, 60)).join('; ')}${says}`,
    )
  }
}
