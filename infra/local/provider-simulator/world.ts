import { insertByDue } from '../process/local-clock.ts'
import { ProviderError } from './provider-error.ts'
import { isOpen, type PaymentRequest } from './provider-objects.ts'
import type { RequestRecord, Store } from './simulator-store.ts'

/** What every step of the simulator changes, and its sources of time, ids and addresses. */
export type World = {
  readonly store: Store
  readonly agenda: Agenda
  readonly nowMs: () => number
  /** Of the last minute, by endpoint, while the account has a limit. */
  readonly callTimes: Map<string, number[]>
  readonly newUuid: () => string
  /** For the links to checkout pages. */
  readonly baseUrl: () => string
}

export function timestampNow(world: World) {
  return toTimestamp(world.nowMs())
}

export function toTimestamp(ms: number) {
  return new Date(ms).toISOString()
}

/** From 1, and kept in the state. */
export function nextInSequence(world: World, name: string) {
  const count = (world.store.sequences.get(name)?.count ?? 0) + 1
  world.store.sequences.put({ id: name, count })
  return count
}

/** Throws for an unknown id. */
export function requireRequest(world: World, id: string) {
  const record = world.store.requests.get(id)
  if (!record) throw unknownId('Payment request', id)
  return record
}

/** A request that is final already keeps its status. */
export function payRequest(world: World, record: RequestRecord, paymentId: string) {
  const status = isOpen(record.request) ? 'SUCCEEDED' : record.request.status
  closeRequest(world, record, { status, latest_payment_id: paymentId })
}

type FinalFields = Pick<PaymentRequest, 'status' | 'failure_code' | 'latest_payment_id'>

export function closeRequest(world: World, record: RequestRecord, fields: FinalFields) {
  const request = { ...record.request, ...fields, updated: timestampNow(world) }
  world.store.requests.put({ ...record, request })
  return request
}

/** The provider refuses an id of another length. */
export function unknownId(what: string, id: string) {
  const code = id.length === 39 ? 'DATA_NOT_FOUND' : 'API_VALIDATION_ERROR'
  return new ProviderError(code, `${what} '${id}' is not found`)
}

export function paymentOf(world: World, request: PaymentRequest) {
  const {
    channel_properties: _properties,
    actions: _actions,
    description: _description,
    status: _status,
    latest_payment_id: _latest,
    failure_code: _failure,
    ...sharedFields
  } = request
  const now = timestampNow(world)
  return {
    ...sharedFields,
    payment_id: `py-${world.newUuid()}`,
    payment_details: {},
    created: now,
    updated: now,
  }
}

/** `id` is the id of the task's record. */
export type Task = {
  readonly kind: 'expire' | 'settle' | 'callback'
  readonly id: string
  readonly dueMs: number
}

/** A simulation passes its own clock. */
export type SimulatorClock = { nowMs(): number; at(dueMs: number, run: () => void): () => void }

/**
 * All tasks share a timer of the clock. They are not saved, because a restart derives them from the
 * records. A task that no longer applies does nothing.
 */
export function createAgenda(clock: SimulatorClock, wake: () => void) {
  // Latest first, so that the next task is taken from the end.
  const tasks: Task[] = []
  let timer: { readonly dueMs: number; readonly cancel: () => void } | undefined

  return {
    add: (task: Task) => insertByDue(tasks, task),
    /** Tasks of the same time are taken in the order of `add`. */
    takeDue: (nowMs: number) => {
      const nextTask = tasks.at(-1)
      return nextTask && nextTask.dueMs <= nowMs ? tasks.pop() : undefined
    },
    arm: () => {
      const nextTask = tasks.at(-1)
      if (timer && timer.dueMs === nextTask?.dueMs) return
      timer?.cancel()
      timer = undefined
      if (!nextTask) return
      const cancel = clock.at(nextTask.dueMs, () => {
        timer = undefined
        wake()
      })
      timer = { dueMs: nextTask.dueMs, cancel }
    },
    close: () => {
      timer?.cancel()
      tasks.length = 0
    },
  }
}

type Agenda = ReturnType<typeof createAgenda>
