import { addMs } from '../../shared/time.ts'
import type { Delivery, DeliveryAttempt } from '../../shared/webhook/delivery/delivery.ts'
import { type TestDeps, testDeps } from './test-deps.ts'
import { storedDelivery, storedEndpoint } from './webhook-builders.ts'

export const CLAIM_MS = 30_000

export const claimOf = (deps: TestDeps, token: string) => ({ token, until: addMs(deps.now(), CLAIM_MS) })

export const attemptOf = (
  deps: TestDeps,
  number: number,
  overrides: Partial<DeliveryAttempt> = {},
): DeliveryAttempt => ({
  number,
  at: deps.now(),
  durationMs: 5,
  httpStatus: 500,
  error: 'http_status',
  responseBody: 'no',
  ...overrides,
})

/** A delivery in the table, as it is just before what a test does to it. */
export const arrangeDelivery = async (overrides: Partial<Delivery> = {}) => {
  const deps = testDeps()
  const endpoint = await storedEndpoint(deps)
  return { deps, delivery: await storedDelivery(deps, endpoint, overrides) }
}

/** What a delivery that has ended no longer has. */
export const TERMINAL = { status: 'skipped', nextAttemptAt: undefined, dueAt: undefined } as const

/** A record as the table gives it back: without the fields that have no value. */
export const definedFields = <T extends object>(record: T): Partial<T> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>
