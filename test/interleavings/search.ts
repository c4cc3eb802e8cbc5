import {
  type Option,
  type Ran,
  runSchedule,
  type Setting,
  type Taken,
  type Waiting,
} from './scheduler.ts'

export type Bounds = {
  readonly preemptions: number
  readonly partial: number
  readonly schedules: number
  /** The turns of a known violation: the search begins there. */
  readonly first?: string | undefined
}

type Violation = {
  readonly problems: readonly string[]
  readonly taken: readonly Taken[]
  /** `7:1 12:2`: the option that is taken at each place where it is not the first option. */
  readonly turns: string
}

type Found = {
  readonly schedules: number
  /** Every schedule within the other bounds was run. */
  readonly isWhole: boolean
  /** The first violation ends the search. */
  readonly violation: Violation | undefined
}

/**
 * The first choices of a schedule, by their number among the options. After them the schedule takes
 * the first option.
 */
type Prefix = {
  readonly chosen: readonly number[]
  readonly preemptions: number
  readonly partial: number
}

/**
 * Runs schedules depth first from each prefix, those with few preemptions and few transactions in
 * parts first (as CHESS does). An action continues until it ends or sleeps, except where a schedule
 * has a preemption.
 */
export async function search(
  setting: Setting,
  judge: (ran: Ran) => Promise<readonly string[]>,
  bounds: Bounds,
): Promise<Found> {
  const shared = sharedKeys(await runSerially(setting))
  const waiting: Prefix[][] = Array.from(
    { length: bounds.preemptions + bounds.partial + 1 },
    () => [],
  )
  waiting[0]?.push({ chosen: [], preemptions: 0, partial: 0 })
  if (bounds.first !== undefined) waiting[0]?.push({ ...bounds, chosen: choicesOf(bounds.first) })
  let violation: Violation | undefined
  let schedules = 0
  const isSeen = seenStates()

  const run = async (prefix: Prefix) => {
    const chosen: number[] = []
    const choose = (options: readonly Option[], state: () => string) => {
      const at = chosen.length
      const take = prefix.chosen[at] ?? 0
      if (at >= prefix.chosen.length) {
        if (isSeen(prefix, state())) return undefined
        for (const [other, { preemptions, partial }] of options.entries()) {
          const next = {
            chosen: [...chosen, other],
            preemptions: prefix.preemptions + preemptions,
            partial: prefix.partial + partial,
          }
          if (other === 0 || next.preemptions > bounds.preemptions || next.partial > bounds.partial)
            continue
          waiting[next.preemptions + next.partial]?.push(next)
        }
      }
      chosen.push(take)
      return options[take]
    }
    const ran = await runSchedule(setting, choose, shared.isLocal)
    schedules++
    if (ran === undefined) return
    const problems = await judge(ran)
    if (problems.length > 0) violation = { problems, taken: ran.taken, turns: turnsOf(chosen) }
  }

  for (const bucket of waiting) {
    for (let prefix = bucket.pop(); prefix !== undefined; prefix = bucket.pop()) {
      if (schedules >= bounds.schedules) return { schedules, isWhole: false, violation }
      await run(prefix)
      if (violation) return { schedules, isWhole: false, violation }
    }
  }
  return { schedules, isWhole: true, violation }
}

function turnsOf(chosen: readonly number[]) {
  return chosen.flatMap((option, at) => (option === 0 ? [] : [`${at}:${option}`])).join(' ')
}

function choicesOf(turns: string) {
  const options = new Map(
    turns.split(' ').map((turn) => turn.split(':').map(Number)) as [number, number][],
  )
  return Array.from({ length: Math.max(...options.keys()) + 1 }, (_, at) => options.get(at) ?? 0)
}

/**
 * Finds the requests whose items no other action touches in these schedules: their place in a
 * schedule changes nothing.
 */
function sharedKeys(schedules: readonly (readonly Taken[])[]) {
  const readers = new Map<string, Set<number>>()
  const writers = new Map<string, Set<number>>()
  for (const { action, call } of schedules.flat()) {
    if (action === 'show' || call === undefined) continue
    const { names, isWrite } = keysTouched(call)
    const all = isWrite ? writers : readers
    for (const name of names) all.set(name, (all.get(name) ?? new Set()).add(action))
  }
  const hasOther = (set: ReadonlySet<number> | undefined, action: number) =>
    set !== undefined && [...set].some((other) => other !== action)
  return {
    isLocal: (action: number, call: Waiting) => {
      if (call.name === 'sleep') return false
      const { names, isWrite } = keysTouched(call)
      return names.every((name) => {
        // Every write changes the indexes. A write is shared with actions that read indexes, not
        // with other writes.
        const isKnown =
          name === 'indexes' || readers.get(name)?.has(action) || writers.get(name)?.has(action)
        return (
          isKnown &&
          !hasOther(writers.get(isWrite && name === 'indexes' ? '' : name), action) &&
          !(isWrite && hasOther(readers.get(name), action))
        )
      })
    },
  }
}

/** What a request touches: an item, or a partition, or all indexes. A write touches all three. */
function keysTouched(call: Waiting) {
  if ('steps' in call) {
    const names = call.steps.flatMap(({ key: { pk, sk } }) => [`${pk}\n${sk}`, pk])
    return { names: [...names, 'indexes'], isWrite: true }
  }
  if ('keys' in call)
    return { names: call.keys.map(({ pk, sk }) => `${pk}\n${sk}`), isWrite: false }
  if ('ms' in call) return { names: [], isWrite: false }
  return {
    names: [call.query.index === undefined ? String(call.query.partition[0]) : 'indexes'],
    isWrite: false,
  }
}

async function runSerially(setting: Setting) {
  const schedules: (readonly Taken[])[] = []
  for (const order of permutations([...setting.actions.keys()])) {
    const placeOf = ({ action }: Option) =>
      action === 'show' ? order.length : order.indexOf(action)
    const ran = await runSchedule(
      setting,
      (options) => options.toSorted((a, b) => placeOf(a) - placeOf(b))[0],
    )
    if (ran) schedules.push(ran.taken)
  }
  return schedules
}

function permutations(actions: readonly number[]): readonly (readonly number[])[] {
  return actions.length === 0
    ? [[]]
    : actions.flatMap((first) =>
        permutations(actions.filter((one) => one !== first)).map((rest) => [first, ...rest]),
      )
}

/**
 * Whether a state was met before at no higher cost. Then that visit searches everything that
 * follows from the state.
 */
function seenStates() {
  const seen = new Map<string, (readonly [number, number])[]>()
  return ({ preemptions, partial }: Prefix, state: string) => {
    const costs = seen.get(state) ?? []
    if (costs.some(([p, l]) => p <= preemptions && l <= partial)) return true
    seen.set(state, [...costs, [preemptions, partial]])
    return false
  }
}
