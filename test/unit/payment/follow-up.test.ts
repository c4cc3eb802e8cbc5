import { describe, expect, it } from 'vitest'
import { type CheckResult, followUpOf } from '../../../shared/payment/news/check-due-payment.ts'

const FOLLOW_UPS: Readonly<Record<CheckResult, ReturnType<typeof followUpOf>>> = {
  checked: 'next_check',
  not_claimed: 'retry',
  not_shown: 'retry',
  unanswered: 'retry',
  rate_limited: 'retry',
}

describe('the check that follows', () => {
  it.each(Object.entries(FOLLOW_UPS))('is, after the result %s, %s', (result, followUp) => {
    expect(followUpOf(result as CheckResult)).toBe(followUp)
  })
})
