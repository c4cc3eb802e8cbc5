import type { Process } from '../../world/process.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'

const OUTCOME = /^delivery\.(succeeded|failed|abandoned)$/

/**
 * Checked at every line of a log, and when a worker comes to its end: what came of an attempt is said once, by the worker
 * that has written it down, in the word of what is written.
 */
export const watchOutcomes = (world: World, seen: Observations): void => {
  const said = new Set<string>()
  /** Attempts that a worker has written down, and what the delivery is since. */
  const noted = new WeakMap<Process, Map<string, string>>()
  const troubled = new WeakSet<Process>()
  const tell = (attempt: string, what: string) => void seen.problems.push(`attempt ${attempt} ${what}`)

  world.onChange.push(({ key, before, after }) => {
    const { acting } = world
    if (key.sk !== 'DELIVERY' || before === undefined || after === undefined || acting === undefined) return
    if (before['attempts'] === after['attempts']) return
    const own = noted.get(acting) ?? new Map<string, string>()
    const attempt = `${key.pk.slice('DELIVERY#'.length)} ${String(after['attempts'])}`
    const outcome = String(after['status'] ?? after['state'])
    noted.set(acting, own.set(attempt, outcome === 'scheduled' ? 'failed' : outcome))
  })

  world.onLine.push((process, code, fields) => {
    const [, outcome] = OUTCOME.exec(code) ?? []
    if (outcome === undefined) return
    const attempt = `${String(fields['delivery_id'])} ${String(fields['attempt'])}`
    if (noted.get(process)?.get(attempt) !== outcome) tell(attempt, `is said to have ${outcome}, which is not written`)
    if (said.has(attempt)) tell(attempt, 'has its outcome said twice')
    said.add(attempt)
  })

  world.onError.push((process) => troubled.add(process))
  world.onEnded.push((process, how) => {
    if (how !== 'done' || troubled.has(process)) return
    for (const attempt of noted.get(process)?.keys() ?? [])
      if (!said.has(attempt)) tell(attempt, 'has an outcome that no line says')
  })
}
