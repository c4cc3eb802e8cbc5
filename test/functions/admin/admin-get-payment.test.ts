import { describe, expect, it } from 'vitest'
import { handler as getPayment } from '../../../functions/admin/get-payment.ts'
import { lifeOf } from '../../../infra/local/console/page/payments/life.ts'
import type { Timeline } from '../../../infra/local/console/page/shapes.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('get-payment', () => {
  it('says why a payment failed: in the payment, at its end, in the log and in the console', async () => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    deps.clock.advance(1)
    await closePayment(deps, payment, 'failed', 'callback', { failureReason: 'declined' })

    const { body } = await invokeAdmin(getPayment, deps, { payment_id: payment.paymentId })

    const timeline = body as unknown as Timeline
    expect(timeline).toMatchObject({ status: 'failed', failure_reason: 'declined' })
    expect(timeline.timeline.transitions).toMatchObject([
      { status: 'pending' },
      { status: 'failed', source: 'callback', failure_reason: 'declined' },
    ])
    expect(timeline.timeline.transitions[0]).not.toHaveProperty('failure_reason')
    expect(lifeOf(timeline).map(({ text }) => text)).toContain('Ended: failed, declined')
    expect(deps.lines).toContainEqual(
      expect.objectContaining({
        code: 'payment.failed',
        fields: expect.objectContaining({ failure_reason: 'declined' }) as unknown,
      }),
    )
  })
})
