import { forgeCapture } from './callbacks.ts'
import { createEngine, type SimulatorDeps } from './create-engine.ts'
import * as faults from './faults.ts'
import { parseInput } from './parse-input.ts'
import { ProviderError } from './provider-error.ts'
import { cancelRequest, expireRequest, failRequest } from './requests/close-request.ts'
import { createPaymentRequest } from './requests/create-payment-request.ts'
import { simulatePayment } from './requests/simulate-payment.ts'
import type { Change } from './simulator-store.ts'
import { bookRow } from './transactions/book-row.ts'
import { getBalance } from './transactions/get-balance.ts'
import { getTransaction, listTransactions } from './transactions/list-transactions.ts'
import { reversePayment } from './transactions/reverse-payment.ts'
import { requireRequest, type World } from './world.ts'

export type SimulatorCore = ReturnType<typeof createSimulatorCore>

/**
 * The provider without its HTTP face: requests, payments, transactions, callbacks and faults on one clock.
 * Every call first does what has come due, so a caller never sees a request open past its expiry.
 * `restored` is an earlier `snapshot()`; callbacks that were still to be sent are sent again.
 */
export const createSimulatorCore = (deps: SimulatorDeps, restored: readonly Change[] = []) => {
  const { world, run, close } = createEngine(deps, restored)
  return {
    createPaymentRequest: (body: unknown) => run(() => createPaymentRequest(world, body)),
    getPaymentRequest: (id: string) => run(() => requireRequest(world, id).request),
    cancelPaymentRequest: (id: string) => run(() => cancelRequest(world, id)),
    simulatePayment: (id: string, body?: unknown) => run(() => simulatePayment(world, id, body)),
    getPayment: (id: string) => run(() => requirePayment(world, id)),
    listTransactions: (search: URLSearchParams) => run(() => listTransactions(world, search)),
    /** A row that no capture makes, such as a withdrawal or one of a type of tomorrow. */
    bookTransaction: (body: unknown) => run(() => bookRow(world, body)),
    getTransaction: (id: string) => run(() => getTransaction(world, id)),
    getBalance: (search: URLSearchParams) => run(() => getBalance(world, search)),
    /** What the payer or the channel does, as opposed to the merchant: decline, or let the time pass. */
    failPaymentRequest: (id: string, body?: unknown) => run(() => failRequest(world, id, body)),
    expirePaymentRequest: (id: string) => run(() => expireRequest(world, id)),
    /** What becomes of the money afterwards: voided, reversed, refunded, charged back, won back. */
    reversePayment: (id: string, body: unknown) => run(() => reversePayment(world, id, body)),
    /** The requests whose reference begins with `prefix`, oldest first. */
    findPaymentRequests: (prefix: string) => run(() => requestsOf(world, prefix)),
    /** Every capture there has been, with the money received. */
    capturedPayments: () =>
      world.store.payments
        .all()
        .filter(({ payment }) => payment.status === 'SUCCEEDED')
        .map(({ id, payment }) => ({
          id,
          amount: (payment.captures ?? []).reduce((sum, { capture_amount: amount }) => sum + amount, 0),
        })),
    /** The captures whose own row has turned since. */
    turnedPayments: () =>
      world.store.transactions
        .all()
        .filter(({ row }) => row.type === 'PAYMENT' && row.status !== 'SUCCESS')
        .map(({ row }) => row.product_id),
    /** Requests and rows as they stand: nothing that has come due is done first. */
    requestAsItStands: (id: string) => world.store.requests.get(id),
    requestsAsTheyStand: () => world.store.requests.all(),
    rowsAsTheyStand: () => world.store.transactions.all(),
    countCall: (name: string, times = 1) =>
      run(() => world.store.calls.put({ id: name, count: (world.store.calls.get(name)?.count ?? 0) + times })),
    callCounts: () => Object.fromEntries(world.store.calls.all().map(({ id, count }) => [id, count])),
    resetCalls: () => run(() => world.store.calls.all().forEach(({ id }) => world.store.calls.delete(id))),
    /** Arms a fault; `forged` strikes at once. Throws `API_VALIDATION_ERROR`, or `DATA_NOT_FOUND` for a forgery. */
    orderFault: (input: unknown) => run(() => orderFault(world, input)),
    takeCallFault: (target: faults.CallTarget) => run(() => faults.takeFault(world, target, faults.CALL_FAULT_NAMES)),
    armedFaults: () => faults.armedFaults(world),
    clearFaults: (only?: Parameters<typeof faults.clearFaults>[1]) => run(() => faults.clearFaults(world, only)),
    /** The whole state as JSON-ready data; give it to a new core to go on from there. */
    snapshot: () => world.store.snapshot(),
    close,
  }
}

const orderFault = (world: World, input: unknown) => {
  const order = faults.parseFaultOrder(input)
  if (order.target !== 'callback' || order.fault !== 'forged') return faults.armFault(world, order)
  const { payment_id: paymentId } = parseInput(faults.ForgedValue, order.value)
  for (let time = 0; time < Math.min(order.times, 1000); time++) forgeCapture(world, paymentId)
}

const requirePayment = (world: World, id: string) => {
  const record = world.store.payments.get(id)
  if (!record) throw new ProviderError('DATA_NOT_FOUND', `Payment '${id}' is not found`)
  return record.payment
}

const requestsOf = (world: World, prefix: string) =>
  world.store.requests
    .all()
    .map(({ request }) => request)
    .filter((request) => request.reference_id.startsWith(prefix))
