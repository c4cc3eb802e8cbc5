import { describe, expect, it } from 'vitest'
import { providerWithin, startDeadline } from '../../../shared/payment/create/create-times.ts'
import { fakeProvider } from '../../support/fake-provider.ts'
import { manualClock } from '../../support/test-deps.ts'

const BUDGET_MS = 22_000

it('startDeadline (design section 4, Create: one deadline per request) counts down to zero and no further', () => {
  const clock = manualClock()
  const deadline = startDeadline(clock, BUDGET_MS)

  clock.advance(12)
  const left = deadline.remainingMs()
  clock.advance(12)

  expect([left, deadline.remainingMs()]).toStrictEqual([10_000, 0])
})

/** Every question with the time it was given, when so much is left of a request. */
const timeoutsWith = async (leftMs: number) => {
  const provider = fakeProvider()
  const timeouts: Record<string, number> = {}
  for (const name of ['getRequest', 'getPayment', 'cancelRequest', 'listTransactions'] as const) {
    provider.script(name, async (_: unknown, timeoutMs: number) => {
      timeouts[name] = timeoutMs
      return { kind: 'not_found' as const }
    })
  }
  const within = providerWithin(provider, { remainingMs: () => leftMs })
  const read = await within.getRequest('pr-1', 4_000)
  await within.getPayment('py-1', 4_000)
  await within.listTransactions({ limit: 1 }, 4_000)
  await within.cancelRequest('pr-1', 4_000)
  return { timeouts, read }
}

describe('providerWithin', () => {
  it.each([
    [22_000, 4_000],
    [2_500, 2_500],
  ])('gives reads and cancels, with %i ms left, %i ms', async (leftMs, ms) => {
    const { timeouts } = await timeoutsWith(leftMs)

    expect(timeouts).toStrictEqual({ getRequest: ms, getPayment: ms, listTransactions: ms, cancelRequest: ms })
  })

  it('begins no read after the deadline, and still cancels what must not stay payable', async () => {
    expect(await timeoutsWith(0)).toStrictEqual({
      timeouts: { cancelRequest: 1_000 },
      read: { kind: 'unanswered', reason: 'unreachable' },
    })
  })
})
