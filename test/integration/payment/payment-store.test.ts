import { describe, expect, it } from 'vitest'
import { eraseFromRequest } from '../../../shared/inquiry/erase-store.ts'
import {
  claimPayment,
  claimTakeover,
  commitPending,
  commitSucceeded,
  releaseAttempt,
  rememberCapture,
} from '../../../shared/payment/creating-store.ts'
import { newPayment } from '../../../shared/payment/new-payment.ts'
import type { CreatingPayment, Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import type { Step } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { aCreating, LEASE_MS } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

function visiblePayment(deps: TestDeps, creating: CreatingPayment) {
  const times = { createdAt: deps.now(), expiresAt: addMs(deps.now(), DAY_MS) }
  return newPayment(creating, { paymentRequestId: 'pr-1', destination: '123' }, times)
}

function reread(deps: TestDeps, { paymentId }: Pick<Payment, 'paymentId'>) {
  return findStoredPayment(deps, paymentId)
}
function transact(deps: TestDeps, payment: Step) {
  return deps.table.transact({ payment })
}

type Outcome = { readonly applied: boolean }

type Write = (deps: TestDeps, read: CreatingPayment, afterMs?: number) => Promise<Outcome>

function takeOver(deps: TestDeps, read: CreatingPayment, afterMs = 0) {
  return claimTakeover(deps, { read, next: { ...read, attempt: 3 } }, addMs(deps.now(), afterMs))
}
function takeOverAgain(deps: TestDeps, read: CreatingPayment) {
  return claimTakeover(deps, { read, next: read }, deps.now())
}
function fail(deps: TestDeps, read: CreatingPayment) {
  return releaseAttempt(deps, read, { failure: 'x', providerAttempts: [] })
}
function commit(deps: TestDeps, read: CreatingPayment) {
  return transact(deps, commitPending(visiblePayment(deps, read)))
}
function succeed(deps: TestDeps, read: CreatingPayment, afterMs = 0) {
  return transact(deps, commitSucceeded(visiblePayment(deps, read), addMs(deps.now(), afterMs)))
}
function erase(deps: TestDeps, read: CreatingPayment, afterMs = 0) {
  return transact(deps, eraseFromRequest(read, addMs(deps.now(), afterMs)))
}
function storeCapture(deps: TestDeps, read: CreatingPayment) {
  return rememberCapture(deps, read, 'py-1', deps.now())
}

const NO_LEASE = { leaseUntil: undefined }
const LAST_MS = LEASE_MS - 1
const WITH_CAPTURE = { rememberedProviderPaymentIds: new Set(['py-1']) }

describe('a payment that is being created', () => {
  it.each<[string, attempt: number, Partial<CreatingPayment>, Write, afterMs?: number]>([
    ['a takeover one millisecond before the lease expires', 2, {}, takeOver, LAST_MS],
    [
      'a takeover with an attempt number that is already used',
      2,
      { leaseUntil: testDeps().now() },
      takeOverAgain,
    ],
    ['the failure of an attempt after a takeover', 1, {}, fail],
    ['the commit of an attempt after a takeover', 1, NO_LEASE, commit],
    ['the success of an attempt after a takeover', 1, NO_LEASE, succeed],
    ['the success during the lease of the attempt', 2, {}, succeed, LAST_MS],
    ['an erasure for an attempt after a takeover', 1, NO_LEASE, erase],
    ['an erasure during the lease of the attempt', 2, {}, erase, LAST_MS],
  ])('refuses %s', async (_, attempt, fields, write, afterMs) => {
    const { deps, creating } = await aCreating(fields)
    const paymentBefore = await reread(deps, creating)

    expect((await write(deps, { ...creating, attempt }, afterMs)).applied).toBe(false)
    expect(await reread(deps, creating)).toEqual(paymentBefore)
  })

  it.each([
    ['a takeover', takeOver],
    ['another commit', commit],
    ['a success', succeed],
    ['a failure', fail],
    ['an erasure from the request', erase],
    ['to store a capture, which can now be applied,', storeCapture],
  ])('refuses %s after its commit', async (_, write) => {
    const { deps, creating } = await aCreating(NO_LEASE)
    await commit(deps, creating)
    const paymentBefore = await reread(deps, creating)

    expect((await write(deps, creating, DAY_MS)).applied).toBe(false)
    expect(paymentBefore).toEqual(visiblePayment(deps, creating))
    expect(await reread(deps, creating)).toEqual(paymentBefore)
  })
})

describe('claimTakeover', () => {
  it.each([
    ['expired', {}],
    ['released', { ...NO_LEASE, failure: 'the provider did not answer' }],
  ])(
    'starts the next attempt when the lease is %s, and removes the failure',
    async (_case, fields) => {
      const { deps, creating } = await aCreating(fields)
      if (creating.leaseUntil) deps.clock.set(creating.leaseUntil)
      const leaseUntil = addMs(deps.now(), LEASE_MS)
      const providerAttempts = [{ number: 3, startedAt: deps.now(), outcome: 'started' as const }]
      const nextClaim = {
        ...creating,
        attempt: 3,
        leaseUntil,
        providerAttempts,
        failure: undefined,
      }

      expect(
        (await claimTakeover(deps, { read: creating, next: nextClaim }, deps.now())).applied,
      ).toBe(true)
      expect(await reread(deps, creating)).toEqual(nextClaim)
    },
  )

  it('is refused when the previous attempt was released after the read', async () => {
    const { deps, creating } = await aCreating()
    deps.clock.advance(31)
    await fail(deps, creating)
    const paymentBefore = await reread(deps, creating)

    expect((await takeOver(deps, creating)).applied).toBe(false)
    expect(await reread(deps, creating)).toEqual(paymentBefore)
  })

  it('is refused when a capture was stored after the read; after a new read the payment stays due', async () => {
    const { deps, creating } = await aCreating(NO_LEASE)
    const nextClaim = { ...creating, ...WITH_CAPTURE, attempt: 3, dueAt: addMs(deps.now(), DAY_MS) }
    await storeCapture(deps, creating)

    const takeoverBeforeRead = await takeOver(deps, creating)
    const takeoverAfterRead = await claimTakeover(
      deps,
      { read: creating, next: nextClaim },
      deps.now(),
    )

    expect([takeoverBeforeRead.applied, takeoverAfterRead.applied]).toStrictEqual([false, true])
    expect(await reread(deps, creating)).toEqual({ ...nextClaim, dueAt: deps.now() })
  })
})

const RETENTION_SECONDS = 90 * 86_400

it.each([
  ['that the provider refused 90 days ago', true, RETENTION_SECONDS, true],
  ['that the provider refused a second later', true, RETENTION_SECONDS - 1, false],
  ['that may exist at the provider, at any age', false, 10 * RETENTION_SECONDS, false],
])(
  'claimPayment replaces a failed create %s: %s',
  async (_case, forgettable, seconds, isReplaced) => {
    const { deps, creating } = await aCreating()
    await releaseAttempt(deps, creating, { failure: 'refused', providerAttempts: [], forgettable })
    deps.clock.advance(seconds)
    const newClaim = { ...creating, attempt: 1, claimedAt: deps.now() }

    const foundPayment = await reread(deps, creating)
    const { applied } = await claimPayment(deps, newClaim)

    expect([applied, foundPayment === undefined]).toStrictEqual([isReplaced, isReplaced])
    expect(await reread(deps, creating)).toMatchObject({ attempt: isReplaced ? 1 : 2 })
  },
)

it('releaseAttempt ends the due work, unless a capture was stored meanwhile: then the payment stays due', async () => {
  const { deps, creating } = await aCreating({ dueAt: addMs(testDeps().now(), 60_000) })
  const failure = { failure: 'refused', providerAttempts: [] }
  const refusal = { ...failure, forgettable: true }

  await storeCapture(deps, creating)

  expect((await releaseAttempt(deps, creating, refusal)).applied).toBe(true)
  expect(await reread(deps, creating)).toEqual({
    ...creating,
    ...WITH_CAPTURE,
    ...NO_LEASE,
    dueAt: deps.now(),
    ...failure,
  })
  const otherCreate = await aCreating({ dueAt: deps.now() })
  await releaseAttempt(otherCreate.deps, otherCreate.creating, refusal)
  expect(await reread(otherCreate.deps, otherCreate.creating)).not.toHaveProperty('dueAt')
  const { item } = await storeCapture(otherCreate.deps, otherCreate.creating)
  expect(item).not.toHaveProperty('ttl')
})

it('a commit is refused unless it keeps a capture that was stored meanwhile', async () => {
  const { deps, creating } = await aCreating()
  await storeCapture(deps, creating)
  const pendingWithCapture = {
    ...visiblePayment(deps, creating),
    ...WITH_CAPTURE,
    dueAt: deps.now(),
  }

  const commitWithout = await commit(deps, creating)
  const commitWith = await transact(deps, commitPending(pendingWithCapture))

  expect([commitWithout.applied, commitWith.applied]).toStrictEqual([false, true])
  expect(await reread(deps, creating)).toEqual(pendingWithCapture)
})
