import { insertByDue } from '../process/local-clock.ts'
import { ProviderError } from './provider-error.ts'
import type { PaymentRequest } from './provider-objects.ts'
import type { RequestRecord, Store } from './simulator-store.ts'

/** What every step of the simulator works on. All that varies (time, ids, addresses) comes in through it. */
export type World = {
  readonly store: Store
  readonly agenda: Agenda
  readonly nowMs: () => number
  /** A fresh lowercase UUID. */
  readonly newUuid: () => string
  /** Where the simulator is reached; checkout pages live there. */
  readonly baseUrl: () => string
}

/** Now as RFC 3339 UTC text with milliseconds. */
export const timestampNow = (world: World) => toTimestamp(world.nowMs())

export const toTimestamp = (ms: number) => new Date(ms).toISOString()

/** The next number of a named sequence, from 1; kept with the state. */
export const nextInSequence = (world: World, name: string) => {
  const count = (world.store.sequences.get(name)?.count ?? 0) + 1
  world.store.sequences.put({ id: name, count })
  return count
}

/** Throws `DATA_NOT_FOUND` for an unknown id. */
export const requireRequest = (world: World, id: string): RequestRecord => {
  const record = world.store.requests.get(id)
  if (!record) throw new ProviderError('DATA_NOT_FOUND', `Payment request '${id}' is not found`)
  return record
}

/** A payment made on a request, without its outcome. */
export const paymentOf = (world: World, request: PaymentRequest) => {
  const { channel_properties: _properties, actions: _actions, description: _description, ...rest } = request
  const { status: _status, latest_payment_id: _latest, failure_code: _failure, ...shown } = rest
  const now = timestampNow(world)
  return { ...shown, payment_id: `py-${world.newUuid()}`, payment_details: {}, created: now, updated: now }
}

/** Something the provider will do by itself at a given time. `id` names the record it is about. */
export type Task = { readonly kind: 'expire' | 'settle' | 'callback'; readonly id: string; readonly dueMs: number }

/** The part of the local clock the simulator needs; a simulation may bring its own. */
export type SimulatorClock = {
  nowMs(): number
  at(dueMs: number, run: () => void): () => void
}

/**
 * The provider's own calendar: any number of tasks on one alarm of the clock.
 * It is not part of the saved state; every task follows from a record, and one that no longer applies does nothing.
 */
export const createAgenda = (clock: SimulatorClock, wake: () => void) => {
  // Latest first, so that the next task is taken from the end without moving the others.
  const tasks: Task[] = []
  let alarm: { readonly dueMs: number; readonly cancel: () => void } | undefined

  return {
    add: (task: Task): void => insertByDue(tasks, task),
    /** Takes the earliest task that is due by `nowMs`; tasks of the same time come in the order they were added. */
    takeDue: (nowMs: number): Task | undefined => {
      const next = tasks.at(-1)
      return next && next.dueMs <= nowMs ? tasks.pop() : undefined
    },
    /** Sets the one alarm on the clock to the earliest task. */
    arm: (): void => {
      const next = tasks.at(-1)
      if (alarm && alarm.dueMs === next?.dueMs) return
      alarm?.cancel()
      alarm = undefined
      if (!next) return
      const cancel = clock.at(next.dueMs, () => {
        alarm = undefined
        wake()
      })
      alarm = { dueMs: next.dueMs, cancel }
    },
    close: () => {
      alarm?.cancel()
      tasks.length = 0
    },
  }
}

export type Agenda = ReturnType<typeof createAgenda>
