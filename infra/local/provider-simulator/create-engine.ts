import { createAgenda, type SimulatorClock, type Task } from './agenda.ts'
import { type OutgoingCallback, recordAttempt, toOutgoing } from './callbacks.ts'
import { isOpen } from './provider-objects.ts'
import { expireWhenDue } from './requests/close-request.ts'
import { type Change, createStore } from './simulator-store.ts'
import { settleTransaction } from './transactions/transaction-rows.ts'
import type { World } from './world.ts'

export type SimulatorDeps = {
  readonly clock: SimulatorClock
  readonly newUuid: () => string
  readonly baseUrl: () => string
  readonly callbackToken: string
  /** Posts one callback; resolves with the HTTP status, rejects when there was no answer. */
  readonly sendCallback: (callback: OutgoingCallback) => Promise<number>
  /** Told of every change before the call that made it returns. */
  readonly save?: (changes: readonly Change[]) => void
}

// The receiver of the callbacks is restarted too.
const RESTART_GRACE_MS = 3000

/**
 * What makes the simulator go: every step passes through `run`, which first does what has come due on the clock, and
 * saves what has changed before it returns. `close` ends all timers; callbacks under way are no longer waited for.
 */
export const createEngine = (deps: SimulatorDeps, restored: readonly Change[]) => {
  const store = createStore(restored)
  const inFlight = new Set<string>()
  let closed = false
  const nowMs = () => deps.clock.nowMs()
  const agenda = createAgenda(deps.clock, () => run(() => undefined))
  const world: World = { store, agenda, nowMs, newUuid: deps.newUuid, baseUrl: deps.baseUrl }

  const run = <T>(step: () => T): T => {
    try {
      for (let task = agenda.takeDue(nowMs()); task; task = agenda.takeDue(nowMs())) perform(task)
      return step()
    } finally {
      if (!closed) agenda.arm()
      const changes = store.takeChanges()
      if (changes.length > 0) deps.save?.(changes)
    }
  }

  const perform = ({ kind, id }: Task) => {
    if (kind === 'expire') expireWhenDue(world, id)
    else if (kind === 'settle') settleTransaction(world, id)
    else dispatch(id)
  }

  const dispatch = (id: string) => {
    const callback = store.callbacks.get(id)
    if (!callback || callback.dueMs > nowMs() || inFlight.has(id)) return
    inFlight.add(id)
    const finish = (delivered: boolean) => {
      inFlight.delete(id)
      // After close the outcome is unknown to the saved state, so a restart sends the callback again.
      if (!closed) run(() => recordAttempt(world, id, delivered))
    }
    deps.sendCallback(toOutgoing(world, callback, deps.callbackToken)).then(
      (status) => finish(status >= 200 && status < 300),
      () => finish(false),
    )
  }

  const close = () => {
    closed = true
    agenda.close()
  }

  resumeTasks(world)
  agenda.arm()
  return { world, run, close }
}

const resumeTasks = (world: World) => {
  for (const { id, request, expiresAtMs } of world.store.requests.all()) {
    if (isOpen(request)) world.agenda.add({ kind: 'expire', id, dueMs: expiresAtMs })
  }
  for (const { id, settleAtMs } of world.store.transactions.all()) {
    if (settleAtMs !== undefined) world.agenda.add({ kind: 'settle', id, dueMs: settleAtMs })
  }
  for (const { id, dueMs } of world.store.callbacks.all()) {
    world.agenda.add({ kind: 'callback', id, dueMs: Math.max(dueMs, world.nowMs() + RESTART_GRACE_MS) })
  }
}
