import { readOptions, runCommand, UsageError } from '../../infra/local/terminal/command-line.ts'
import { type Guard, MODELS, type Model, withoutGuard } from './model.ts'
import { explore, fetchTlc, hasJava } from './tlc.ts'

const USAGE = `npm run models [-- --model NAME] [--trace]

Visits every state of the protocols on paper (test/models), and each of them again without one of its guards after
another: then what the guard is there for must be refuted. Needs Java 17 and, the first time, Maven Central: TLC is put
into the system's temporary directory.
  --model NAME   only this one: ${MODELS.map(({ name }) => name).join(', ')}
  --trace        tells by which steps each twin goes wrong
  --help, -h     this text
Exit code: 0 every model holds and every twin is refuted, 1 not so, or no Java, 2 called wrongly.`

const count = (value: number) => value.toLocaleString('en')

const checkModel = async (model: Model): Promise<boolean> => {
  const { outcome, states, depth, seconds, output } = await explore(model)
  const figures = `${count(states)} states, depth ${depth}, ${seconds.toFixed(0)} s`
  console.log(`${model.name}: ${outcome}, ${figures}: ${[...model.invariants, ...model.properties].join(', ')}`)
  if (outcome !== 'holds') console.log(output)
  return outcome === 'holds'
}

const checkTwin = async (model: Model, guard: Guard, trace: boolean): Promise<boolean> => {
  const { outcome, depth, seconds, output } = await explore(withoutGuard(model, guard))
  const verdict = outcome === 'refuted' ? `${guard.breaks} is refuted` : `${guard.breaks} ${outcome}, which it must not`
  console.log(
    `  without ${guard.name}: ${verdict} (${Number.isNaN(depth) ? '' : `depth ${depth}, `}${seconds.toFixed(0)} s)`,
  )
  if (outcome === 'failed' || trace) console.log(output)
  return outcome === 'refuted'
}

const run = async (models: readonly Model[], trace: boolean): Promise<number> => {
  if (!(await hasJava())) {
    console.error('There is no Java on this machine: the models are not explored.')
    return 1
  }
  await fetchTlc()
  const startedAt = performance.now()
  const results: boolean[] = []
  for (const model of models) {
    results.push(await checkModel(model))
    for (const guard of model.guards) results.push(await checkTwin(model, guard, trace))
  }
  const bad = results.filter((isAsItMust) => !isAsItMust).length
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  console.log(
    `${models.length} models and ${results.length - models.length} twins in ${seconds} s, ${bad} not as they must be`,
  )
  return bad === 0 ? 0 : 1
}

const chosen = (name: string | undefined): readonly Model[] => {
  const models = name === undefined ? MODELS : MODELS.filter((model) => model.name === name)
  if (models.length === 0) throw new UsageError(`there is no model ${name}`)
  return models
}

const OPTIONS = { model: { type: 'string' }, trace: { type: 'boolean' } } as const

process.exitCode = await runCommand(USAGE, process.argv.slice(2), (argv) => {
  const { model, trace = false } = readOptions(argv, OPTIONS)
  return run(chosen(model), trace)
})
