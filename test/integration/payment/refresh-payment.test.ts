import { describe, expect } from 'vitest'
import { refreshPayment } from '../../../shared/payment/news/refresh-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { paymentTest as it } from './payment-test.ts'

describe('refreshPayment when the provider leaves the question open', () => {
  it.for([
    ['unreachable', 'network', 'the provider did not answer'],
    ['server_error', 'server_error', 'the provider failed'],
    ['rate_limited', 'server_error', 'the provider takes no more calls for now'],
    ['misconfigured', 'server_error', 'the provider failed'],
  ] as const)('answers 502 as a cancel does: %s is %s', async ([reason, code, said], { deps, payment }) => {
    deps.provider.script('getRequest', async () => ({ kind: 'unanswered', reason }))

    const refresh = refreshPayment(deps, payment.paymentId, 'ayu')

    await expect(refresh).rejects.toMatchObject({ code, message: expect.stringContaining(said) as string })
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })
})
