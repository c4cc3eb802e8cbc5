import { describe, expect, it } from 'vitest'
import { handler as getPayment } from '../../../functions/admin/get-payment.ts'
import { handler as listSuspense } from '../../../functions/admin/list-suspense.ts'
import { lifeOf } from '../../../infra/local/console/page/payments/life.ts'
import type { Timeline } from '../../../infra/local/console/page/shapes.ts'
import { minor } from '../../../shared/money.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { heldMoney, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('get-payment', () => {
  it('says why a payment failed: in the payment, at its end, in the log and in the console', async () => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    deps.clock.advance(1)
    await closePayment(deps, payment, { status: 'failed', source: 'callback', failureReason: 'declined' })

    const { body } = await invokeAdmin(getPayment, deps, { payment_id: payment.paymentId })

    const timeline = body as unknown as Timeline
    expect(timeline).toMatchObject({ status: 'failed', failure_reason: 'declined' })
    expect(timeline.timeline.transitions).toMatchObject([
      { status: 'pending' },
      { status: 'failed', source: 'callback', failure_reason: 'declined' },
    ])
    expect(timeline.timeline.transitions[0]).not.toHaveProperty('failure_reason')
    expect(lifeOf(timeline).map(({ text }) => text)).toContain('Ended: failed, declined')
    const said = deps.lines.filter(({ code }) => code === 'payment.failed')
    expect(said).toMatchObject([{ fields: { failure_reason: 'declined' } }])
  })

  it('shows its money in suspense; list-suspense shows it by payment and by client', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const [payment, other] = [await aPendingPayment(deps, client), await aPendingPayment(deps, client)]
    const suspended = async (about: typeof payment | undefined) => {
      const capture = { providerPaymentId: `py-${deps.newId()}`, capturedMinor: minor(7_000) }
      await recordSuspense(deps, heldMoney({ capture, cause: 'wrong_amount', payment: about, now: deps.now() }))
      return capture.providerPaymentId
    }
    const [own, others, unknown] = [await suspended(payment), await suspended(other), await suspended(undefined)]
    const listed = async (payload: object) => {
      const { body } = await invokeAdmin(listSuspense, deps, payload)
      return (body as { readonly data: readonly { suspense_id: string }[] }).data.map((one) => one.suspense_id)
    }

    const { body } = await invokeAdmin(getPayment, deps, { payment_id: payment.paymentId })

    const timeline = body as unknown as Timeline
    expect(timeline.timeline.suspense).toMatchObject([{ suspense_id: own, kind: 'money', cause: 'wrong_amount' }])
    expect(lifeOf(timeline).map(({ text }) => text)).toContain('In suspense: money, wrong amount')
    expect(await listed({ payment_id: payment.paymentId })).toStrictEqual([own])
    expect((await listed({ client_id: client.clientId })).toSorted()).toStrictEqual([own, others].toSorted())
    expect(await listed({ client_id: client.clientId, status: 'resolved' })).toStrictEqual([])
    expect(await listed({ per_page: 100 })).toContain(unknown)
  })
})
