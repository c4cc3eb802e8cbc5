/** A payment's item stays small however often its create is tried, and what was never sent is forgotten first. */
import { describe, expect, it } from 'vitest'
import { withAttempt } from '../../../shared/payment/create/create-payment.ts'
import type { ProviderAttempt } from '../../../shared/payment/payment.ts'
import { timestampOf } from '../../../shared/time.ts'

const attempt = (number: number, outcome: ProviderAttempt['outcome']): ProviderAttempt => ({
  number,
  outcome,
  startedAt: timestampOf(0),
})

const numbersAfter = (count: number, outcomeOf: (number: number) => ProviderAttempt['outcome']) => {
  let attempts: ProviderAttempt[] = []
  for (let number = 1; number <= count; number++) attempts = withAttempt(attempts, attempt(number, outcomeOf(number)))
  return attempts.map(({ number }) => number)
}

const upTo = (last: number, count: number) => Array.from({ length: count }, (_, at) => last - count + 1 + at)

describe('the attempts that a payment keeps', () => {
  it('are the last twenty where none may have been sent', () => {
    expect(numbersAfter(20, () => 'refused')).toStrictEqual(upTo(20, 20))
    expect(numbersAfter(40, () => 'refused')).toStrictEqual(upTo(40, 20))
  })

  it.each([
    ['the first', 1, 2],
    ['those between', 12, 15],
  ])('are those that may have been sent before all others: %s', (_, one, two) => {
    const numbers = numbersAfter(60, (number) => (number === one || number === two ? 'unknown' : 'not_executed'))

    expect(numbers).toStrictEqual([one, two, ...upTo(60, 18)])
  })

  it('are the first ten and the last ten where all may have been sent', () => {
    expect(numbersAfter(40, () => 'unknown')).toStrictEqual([...upTo(10, 10), ...upTo(40, 10)])
  })
})
