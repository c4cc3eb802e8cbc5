import { hash } from 'node:crypto'
import type { TableChange } from '../../infra/local/emulators/memory-table/table-view.ts'
import type { TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import type { HistorySteps } from '../../shared/stage-settings.ts'
import { addMs, epochMs, later, type Timestamp } from '../../shared/time.ts'
import { requestsAround, type TableCall, type TestDeps, testDeps } from '../support/test-deps.ts'
import {
  type Base,
  nameOf,
  type PartialTable,
  partialTable,
  type Visible,
} from './partial-table.ts'

/** What an action waits for: one request to the table, or a time that passes. */
export type Waiting = TableCall | { readonly name: 'sleep'; readonly ms: number }

/**
 * One possible next event: a request of an action, or the remaining items of a transaction become
 * visible.
 */
export type Taken = {
  readonly action: number | 'show'
  readonly visible: Visible
  readonly call: Waiting | undefined
}

export type Option = Taken & {
  /** 1 for a switch away from an action that could continue. */
  readonly preemptions: number
  /** 1 for a transaction that does not become visible at once. */
  readonly partial: number
}

export type Act = (deps: TestDeps) => Promise<unknown>

/** A layer between the actions and the table, which removes a guard. */
export type Border = {
  readonly requests?: (requests: TableRequests) => TableRequests
  /** Transactions do not become visible during a sleep. */
  readonly isSleepless?: true
}

export type Setting = {
  readonly base: Base
  readonly now: Timestamp
  readonly actions: readonly Act[]
  readonly border: Border
  readonly steps?: HistorySteps | undefined
}

export type Ran = {
  readonly table: PartialTable
  readonly now: Timestamp
  readonly errors: readonly unknown[]
  readonly taken: readonly Taken[]
}

type Process = {
  /** A digest of what the action knows: all answers so far and their times. */
  known: string
  readonly queue: { readonly call: Waiting; readonly run: (visible: Visible) => void }[]
  ended: boolean
}

/**
 * Runs the actions on one table. Each request is held until `choose` takes it; requests of one
 * action keep their order. Where `choose` takes no request, the schedule ends, and the result is
 * undefined. Local requests are not held, because no other action can notice them. A sleep ends
 * when it is chosen. What was committed before the sleep is visible by then.
 */
export async function runSchedule(
  { base, now, actions, border, steps }: Setting,
  choose: (options: readonly Option[], state: () => string) => Option | undefined,
  isLocal: (action: number, call: Waiting) => boolean = () => false,
): Promise<Ran | undefined> {
  const table = partialTable(base)
  /** The time that all actions share. It passes by their sleeps alone. */
  const clock = { now }
  const processes = actions.map((): Process => ({ known: '', queue: [], ended: false }))
  const errors: unknown[] = actions.map(() => undefined)

  const start = async (act: Act, at: number, process: Process) => {
    const hold = <Answer>(
      call: Waiting,
      run: (visible: Visible) => Promise<Answer>,
    ): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const noteAnswer = (answer: Answer) => {
          process.known = hash('sha1', `${process.known} ${clock.now} ${JSON.stringify(answer)}`)
          resolve(answer)
        }
        process.queue.push({ call, run: (visible) => void run(visible).then(noteAnswer, reject) })
      })
    const sleep = (ms: number) => {
      const [end, before] = [addMs(clock.now, ms), new Set<TableChange>(table.late())]
      process.known = hash(
        'sha1',
        `${process.known} ${[...before].map(({ key }) => nameOf(key)).join()}`,
      )
      return hold({ name: 'sleep', ms }, async () => {
        clock.now = later(clock.now, end)
        if (border.isSleepless !== true) table.show((change) => before.has(change))
      })
    }
    const held: TableRequests = {
      ...requestsAround(table.requestsWith('all'), hold),
      transact: (sent) =>
        hold({ name: 'transact', steps: sent }, (visible) =>
          table.requestsWith(visible).transact(sent),
        ),
    }
    const deps = processDeps(at, {
      requests: border.requests?.(held) ?? held,
      now: () => clock.now,
      sleep,
      steps,
    })
    try {
      await act(deps)
    } catch (error) {
      errors[at] = error
    }
    process.ended = true
  }

  for (const [at, process] of processes.entries()) void start(actions[at] as Act, at, process)
  const taken: Taken[] = []
  const run = (action: number, visible: Visible) => {
    const next = processes[action]?.queue.shift()
    if (next === undefined) return
    taken.push({ action, visible, call: next.call })
    next.run(visible)
  }
  let current: number | undefined
  const state = () =>
    hash(
      'sha1',
      `${current} ${clock.now} ${processes.map(({ known }) => known).join()} ${table.state()}`,
    )
  for (;;) {
    await untilQuiet()
    const ownQueue = current === undefined ? [] : (processes[current]?.queue ?? [])
    const alone = ownQueue.findIndex(({ call }) => current === undefined || !isLocal(current, call))
    const local = alone === -1 ? ownQueue.length : alone
    if (current !== undefined && local > 0) {
      for (let at = 0; at < local; at++) run(current, 'all')
      continue
    }
    const options = optionsOf(processes, current, table.late().length > 0)
    if (options.length === 0) break
    const next = choose(options, state)
    if (next === undefined) return undefined
    if (next.action === 'show') {
      taken.push({ action: 'show', visible: 'all', call: undefined })
      table.show()
    } else {
      current = next.action
      run(current, next.visible)
    }
  }
  if (processes.some(({ ended }) => !ended))
    throw new Error('an action waits for something else than the table')
  table.show()
  return { table, now: clock.now, errors, taken }
}

export function processDeps(
  process: number | string,
  { steps, ...means }: Pick<TestDeps, 'requests' | 'now' | 'sleep'> & Pick<Setting, 'steps'>,
) {
  const nowMs = () => epochMs(means.now())
  const stage = steps && { stage: { historySteps: steps } }
  return testDeps({ ...chance(process), ...means, realNowMs: nowMs, monotonicMs: nowMs, ...stage })
}

/** Ids and bytes that only the process and their number decide. */
export function chance(process: number | string) {
  let made = 0
  const digest = () => hash('sha256', `${process} ${++made}`, 'buffer')
  return {
    newId: () => {
      const text = digest().toString('hex')
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-8${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20, 32)}`
    },
    randomBytes: (length: number) => digest().subarray(0, length),
    random: () => 0,
  }
}

function untilQuiet() {
  return new Promise((resolve) => void setImmediate(resolve))
}

function optionsOf(processes: readonly Process[], current: number | undefined, isLate: boolean) {
  const calls = processes.map(({ queue, ended }) => (ended ? undefined : queue[0]?.call))
  const head = current === undefined ? undefined : calls[current]
  const isFree = head === undefined || head.name === 'sleep'
  const others = calls.filter((call) => call !== undefined).length > 1
  const options = [...new Set([...(head ? [current ?? 0] : []), ...processes.keys()])].flatMap(
    (action): Option[] => {
      const call = calls[action]
      if (call === undefined) return []
      const preemptions = isFree || action === current ? 0 : 1
      const mayLag = call.name === 'transact' && call.steps.length > 1 && others
      const visibles = mayLag ? (['all', 'first', 'last'] as const) : (['all'] as const)
      return visibles.map((visible) => ({
        action,
        visible,
        preemptions,
        partial: visible === 'all' ? 0 : 1,
        call,
      }))
    },
  )
  const show: Option = {
    action: 'show',
    visible: 'all',
    preemptions: isFree ? 0 : 1,
    partial: 0,
    call: undefined,
  }
  return isLate && options.length > 0 ? [...options, show] : options
}
