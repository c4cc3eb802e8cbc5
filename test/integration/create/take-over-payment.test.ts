import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import type { CreateAnswer } from '../../../shared/provider/provider.ts'
import { aRequest, aStoredClient, create } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const UNKNOWN: CreateAnswer = { kind: 'unknown', reason: 'timeout' }
const REFUSED: CreateAnswer = { kind: 'refused', code: 'INVALID_VALUE_ERROR' }

describe('the request a take-over uses (design section 4, Create)', () => {
  it('stays the stored one when some attempt may exist upstream, however many were refused behind it', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    for (const answer of [UNKNOWN, REFUSED, REFUSED]) {
      deps.provider.script('createRequest', async () => answer)
      await create(deps, client, aRequest(), 'key-1').catch(() => undefined)
    }
    deps.provider.heal('createRequest')

    const { payment } = await create(deps, client, aRequest({ notionalMinor: minor(7) }), 'key-1')

    expect(payment).toMatchObject({ attempt: 4, notionalMinor: 100_000 })
  })
})

describe('an attempt that fails behind one that was quicker', () => {
  it('answers the payment that is there all the same', async () => {
    const deps: TestDeps = testDeps()
    const client = await aStoredClient(deps)
    const answer = Promise.withResolvers<CreateAnswer>()
    deps.provider.script('createRequest', () => answer.promise)
    const slow = create(deps, client, aRequest(), 'key-1')
    await expect.poll(() => deps.provider.countOf('createRequest')).toBe(1)
    deps.clock.advance(31)
    deps.provider.heal('createRequest')
    const { payment } = await create(deps, client, aRequest(), 'key-1')

    answer.resolve(UNKNOWN)

    expect(await slow).toEqual({ payment, replayed: true })
  })
})
