import { syncProviderTransactions } from '../../shared/sync/sync-run.ts'
import { API, type ApiResponse, aPaymentBody, call } from '../support/api-event.ts'
import type { DrillWorld } from './drill-world.ts'

const KEY = { 'idempotency-key': 'drill-1' }
const BODIES = {
  DANA: aPaymentBody({ method: 'ewallet', channel_code: 'DANA' }),
  OVO: aPaymentBody({
    method: 'ewallet',
    channel_code: 'OVO',
    customer: { phone: '+6281234567890' },
  }),
}
export type DrillChannel = keyof typeof BODIES

export function createOnce({ deps, caller }: DrillWorld, channel: DrillChannel) {
  return call(deps, API.createPayment, { caller, headers: KEY, body: BODIES[channel] })
}

/** Makes a second payment, so that the proxy keeps an answer about a payment that is not ours. */
export async function keptCreate(world: DrillWorld, channel: DrillChannel) {
  const { caller, deps, core } = world
  await call(deps, API.createPayment, { caller, body: BODIES[channel] })
  return { status: 201, body: core.storedRequests().at(-1)?.request }
}

/** How many requests of the payment can be paid now. `others`: made before it. */
export function payable({ core }: DrillWorld, others: number): number {
  return core
    .storedRequests()
    .slice(others)
    .filter(({ request }) => ['REQUIRES_ACTION', 'PENDING'].includes(request.status)).length
}

const TRIES = 3
const APART_MS = 70_000

/** The merchant repeats the create until it is answered; leases and pauses end meanwhile. */
export async function repeatCreate(world: DrillWorld, channel: DrillChannel): Promise<ApiResponse> {
  let answer = await createOnce(world, channel)
  for (let tries = 1; tries < TRIES && answer.status >= 400; tries++) {
    await world.clock.runFor(APART_MS)
    answer = await createOnce(world, channel)
  }
  return answer
}

/** Customers pay everything that can be paid. Callbacks are sent at once. */
export async function payEverything(
  { core, clock, state }: DrillWorld,
  others: number,
): Promise<number> {
  const ids = core
    .storedRequests()
    .slice(others)
    .filter(({ request }) => ['REQUIRES_ACTION', 'PENDING'].includes(request.status))
    .map(({ id }) => id)
  for (const id of ids) core.simulatePayment(id)
  await clock.runFor(1)
  await Promise.all(state.sent)
  return ids.length
}

/** Payments that were credited, and captures that are held for an operator. */
export function creditedAndHeld({ outside }: DrillWorld): string {
  const credited = outside.stored
    .items('PAYMENT#')
    .filter(({ status }) => status === 'succeeded').length
  const held = outside.stored
    .items('SUSPENSE#')
    .filter(({ kind, status }) => kind === 'money' && status === 'open').length
  return `${credited} credited, ${held} held`
}

export async function syncAfter({ deps, clock }: DrillWorld, minutes: number) {
  await clock.runFor(minutes * 60_000)
  await syncProviderTransactions(deps)
}
