import { describe, expect } from 'vitest'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { aPendingPayment, checkWhenDue } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { paymentTest as it } from './payment-test.ts'

const REMEMBERED = { rememberedProviderPaymentIds: new Set(['py-remembered']) }

describe('captures remembered while the payment was created', () => {
  it('are asked about for an hour while the provider does not show them, and then forgotten', async ({
    deps,
    client,
  }) => {
    const payment = await aPendingPayment(deps, client, { method: 'ewallet', channelCode: 'DANA' })
    const now = () => paymentOf(deps, { payment })
    await deps.table.write(update(paymentKey(payment.paymentId), { add: REMEMBERED }))

    expect(await checkWhenDue(deps, payment)).toBe('not_shown')
    expect(await now()).toMatchObject({ ...REMEMBERED, dueAt: addMs(deps.now(), 2 * MINUTE_MS) })
    deps.clock.advance(3_600)
    expect(await checkWhenDue(deps, payment)).toBe('checked')

    expect(await now()).not.toHaveProperty('rememberedProviderPaymentIds')
    expect(await now()).toMatchObject({ dueAt: payment.expiresAt })
  })
})
