import { accountOf, admitCall, type Permission, requirePermission, setAccount } from './account.ts'
import { forgeCapture, type OutgoingCallback, recordAttempt, toOutgoing } from './callbacks.ts'
import * as faults from './faults.ts'
import { parseInput } from './provider-error.ts'
import { isOpen } from './provider-objects.ts'
import { createPaymentRequest } from './requests/create-payment-request.ts'
import {
  cancelRequest,
  expireRequest,
  expireWhenDue,
  failRequest,
  simulatePayment,
} from './requests/end-request.ts'
import { type Change, createStore } from './simulator-store.ts'
import { getBalance, listTransactions } from './transactions/list-transactions.ts'
import { deductDisputes, reversePayment } from './transactions/reverse-payment.ts'
import { bookRow, settleTransaction } from './transactions/transaction-rows.ts'
import {
  createAgenda,
  requireRequest,
  type SimulatorClock,
  type Task,
  unknownId,
  type World,
} from './world.ts'

type SimulatorDeps = {
  readonly clock: SimulatorClock
  readonly newUuid: () => string
  readonly baseUrl: () => string
  readonly callbackToken: string
  /** Resolves with the HTTP status; rejects if there was no answer. */
  readonly sendCallback: (callback: OutgoingCallback) => Promise<number>
  /** Called before the step returns. */
  readonly save?: (changes: readonly Change[]) => void
}

export type SimulatorCore = ReturnType<typeof createSimulatorCore>

/**
 * The provider without HTTP, on one clock. Every call first runs the due tasks, so a caller never
 * sees an open request after its expiry. `restored` is an earlier `snapshot()`, whose callbacks
 * without a result are sent again.
 */
export function createSimulatorCore(deps: SimulatorDeps, restored: readonly Change[] = []) {
  const { world, run, callbacksEnded, close } = createEngine(deps, restored)
  const step =
    <Args extends readonly unknown[], Answer>(act: (world: World, ...args: Args) => Answer) =>
    (...args: Args) =>
      run(() => act(world, ...args))
  return {
    createPaymentRequest: step(createPaymentRequest),
    getPaymentRequest: (id: string) => run(() => requireRequest(world, id).request),
    cancelPaymentRequest: step(cancelRequest),
    simulatePayment: step(simulatePayment),
    getPayment: step(requirePayment),
    listTransactions: step(listTransactions),
    /** For example a withdrawal, or a row of an unknown type. */
    bookTransaction: step(bookRow),
    getBalance: step(getBalance),
    /** Actions of the payer or the channel, not of the merchant. */
    failPaymentRequest: step(failRequest),
    expirePaymentRequest: step(expireRequest),
    reversePayment: step(reversePayment),
    /** Oldest first. */
    findPaymentRequests: step(requestsOf),
    capturedPayments: () =>
      world.store.payments
        .all()
        .filter(({ payment }) => payment.status === 'SUCCEEDED')
        .map(({ id, payment }) => ({
          id,
          amount: (payment.captures ?? []).reduce(
            (sum, { capture_amount: amount }) => sum + amount,
            0,
          ),
        })),
    /** These reads run no due task. */
    storedRequest: (id: string) => world.store.requests.get(id),
    storedRequests: () => world.store.requests.all(),
    transactionRecords: () => world.store.transactions.all(),
    account: () => accountOf(world),
    setAccount: step(setAccount),
    admitCall: (endpoint: string) => admitCall(world, endpoint),
    requirePermission: (permission: Permission) => requirePermission(world, permission),
    deductDisputes: step(deductDisputes),
    countCall: (name: string, times = 1) =>
      run(() =>
        world.store.calls.put({
          id: name,
          count: (world.store.calls.get(name)?.count ?? 0) + times,
        }),
      ),
    callCounts: () =>
      Object.fromEntries(world.store.calls.all().map(({ id, count }) => [id, count])),
    resetCalls: () =>
      run(() => world.store.calls.all().forEach(({ id }) => world.store.calls.delete(id))),
    /**
     * `forged` sends its callback at once. Throws `API_VALIDATION_ERROR`, or the error of
     * `forgeCapture`.
     */
    orderFault: step(orderFault),
    takeCallFault: step(faults.takeCallFault),
    armedFaults: () => faults.armedFaults(world),
    clearFaults: step(faults.clearFaults),
    /** A new core continues from this JSON data. */
    snapshot: () => world.store.snapshot(),
    callbacksEnded,
    close,
  }
}

/**
 * `run` first runs the due tasks, then the step, and saves all changes before it returns. `close`
 * cancels all timers, and ignores the results of callbacks in progress.
 */
function createEngine(deps: SimulatorDeps, restored: readonly Change[]) {
  const store = createStore(restored)
  const inFlight = new Map<string, Promise<void>>()
  let isClosed = false
  const nowMs = () => deps.clock.nowMs()
  const agenda = createAgenda(deps.clock, () => run(() => undefined))
  const { newUuid, baseUrl } = deps
  const world: World = { store, agenda, nowMs, callTimes: new Map(), newUuid, baseUrl }

  const run = <T>(step: () => T) => {
    try {
      for (let task = agenda.takeDue(nowMs()); task; task = agenda.takeDue(nowMs())) runTask(task)
      return step()
    } finally {
      if (!isClosed) agenda.arm()
      const changes = store.takeChanges()
      if (changes.length > 0) deps.save?.(changes)
    }
  }

  const runTask = ({ kind, id }: Task) => {
    if (kind === 'expire') expireWhenDue(world, id)
    else if (kind === 'settle') settleTransaction(world, id)
    else dispatchCallback(id)
  }

  const dispatchCallback = (id: string) => {
    const callback = store.callbacks.get(id)
    if (!callback || callback.dueMs > nowMs() || inFlight.has(id)) return
    const finish = (delivered: boolean) => {
      inFlight.delete(id)
      if (!isClosed) run(() => recordAttempt(world, id, delivered))
    }
    const sent = deps.sendCallback(toOutgoing(world, callback, deps.callbackToken)).then(
      (status) => finish(status >= 200 && status < 300),
      () => finish(false),
    )
    inFlight.set(id, sent)
  }

  /** Until every callback that is due now has its answer. */
  const callbacksEnded = async () => {
    run(() => undefined)
    await Promise.all(inFlight.values())
  }

  const close = () => {
    isClosed = true
    agenda.close()
  }

  resumeTasks(world)
  agenda.arm()
  return { world, run, callbacksEnded, close }
}

// After a restart, callbacks wait until their receiver has started too.
const RESTART_GRACE_MS = 3000

function resumeTasks(world: World) {
  for (const { id, request, expiresAtMs } of world.store.requests.all()) {
    if (isOpen(request)) world.agenda.add({ kind: 'expire', id, dueMs: expiresAtMs })
  }
  for (const { id, settleAtMs } of world.store.transactions.all()) {
    if (settleAtMs !== undefined) world.agenda.add({ kind: 'settle', id, dueMs: settleAtMs })
  }
  for (const { id, dueMs } of world.store.callbacks.all()) {
    world.agenda.add({
      kind: 'callback',
      id,
      dueMs: Math.max(dueMs, world.nowMs() + RESTART_GRACE_MS),
    })
  }
}

function requirePayment(world: World, id: string) {
  const record = world.store.payments.get(id)
  if (!record) throw unknownId('Payment', id)
  return record.payment
}

function requestsOf(world: World, prefix: string) {
  return world.store.requests
    .all()
    .map(({ request }) => request)
    .filter((request) => request.reference_id.startsWith(prefix))
}

function orderFault(world: World, input: unknown) {
  const order = faults.parseFaultOrder(input)
  if (order.target !== 'callback' || order.fault !== 'forged') return faults.armFault(world, order)
  const { payment_id: paymentId } = parseInput(faults.ForgedValue, order.value)
  for (let time = 0; time < Math.min(order.times, 1000); time++) forgeCapture(world, paymentId)
}
