import { describe, expect, it } from 'vitest'
import { withAttempt } from '../../../shared/payment/create/create-payment.ts'
import { providerWithin, startDeadline } from '../../../shared/payment/create/create-times.ts'
import type { ProviderAttempt } from '../../../shared/payment/payment.ts'
import { timestampOf } from '../../../shared/time.ts'
import { fakeProvider } from '../../support/fake-provider.ts'
import { aCreateInput } from '../../support/scripted-provider.ts'
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

/** The timeout of each read call when a request has `leftMs` left. */
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

/* A payment's item stays small however often its create is tried, and what was never sent is forgotten first. */

type OutcomeOf = (number: number) => ProviderAttempt['outcome']

const onlySent =
  (...numbers: readonly number[]): OutcomeOf =>
  (number) =>
    numbers.includes(number) ? 'unknown' : 'not_executed'

const upTo = (last: number, count: number) => Array.from({ length: count }, (_, at) => last - count + 1 + at)

describe('of sixty attempts a payment keeps', () => {
  it.each<[string, OutcomeOf, readonly number[]]>([
    ['the last twenty where none may have been sent', () => 'refused', upTo(60, 20)],
    ['the first and the last ten where all may have been sent', () => 'unknown', [...upTo(10, 10), ...upTo(60, 10)]],
    ['the first two where only they may have been sent', onlySent(1, 2), [1, 2, ...upTo(60, 18)]],
    ['two between where only they may have been sent', onlySent(12, 15), [12, 15, ...upTo(60, 18)]],
  ])('%s', (_, outcomeOf, numbers) => {
    const startedAt = timestampOf(0)
    let kept: readonly ProviderAttempt[] = []
    for (let number = 1; number <= 60; number++) {
      kept = withAttempt(kept, { number, startedAt, outcome: outcomeOf(number) })
    }

    expect(kept.map(({ number }) => number)).toStrictEqual(numbers)
  })
})

describe('the name that a bank shows to the payer', () => {
  it.each([
    ['Warung  Kopi 24/7', 'Warung Kopi'],
    ['Café Ubud', 'Cafe Ubud'],
    ['CV 1', 'Gateway'],
    ['C.V.K.', 'CVK'],
    ['K'.repeat(51), 'K'.repeat(50)],
    [`${'K'.repeat(49)} K`, 'K'.repeat(49)],
  ])('of %s is %s', (name, displayName) => {
    expect(aCreateInput({}, { name })).toMatchObject({ displayName })
  })
})
