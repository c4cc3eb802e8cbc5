/**
 * Goal: a recount credits a payment only with the capture that paid it. Method: a payment in memory of which a restore
 * kept only the event, and a provider that shows the capture otherwise.
 */
import { describe, expect, it } from 'vitest'
import { paymentIdForKey, referenceOf } from '../../../shared/ids.ts'
import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { minor } from '../../../shared/money.ts'
import { readAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import type { ProviderPayment } from '../../../shared/provider/provider.ts'
import { eventKey, paymentKey } from '../../../shared/table/keys.ts'
import { aClientId } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { withoutFloor } from '../../support/settlement-builders.ts'
import { paidUpstream, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, memoryDeps } from '../../support/test-deps.ts'
import { differencesOf, expectRefused, recount, removeEvent } from './recounted.ts'
import { receiveEverything } from './torn-flows.ts'

/** A payment that was paid, or failed, of which a restore kept only the event. */
const eventAlone = async ({ hasFailed = false } = {}) => {
  const deps = memoryDeps()
  const client = await withoutFloor(deps)
  const paid = await paidUpstream(deps, client)
  const { paymentId } = paid.payment
  const before = await Promise.all([paymentKey(paymentId), shardOf(paid.payment)].map((key) => rawItem(deps, key)))
  const notify = (providerPaymentId: string) => applyProviderNews(deps, { providerPaymentId }, 'callback')
  const close = (status: 'failed' | 'expired') => closePayment(deps, paid.payment, { status, source: 'callback' })
  await (hasFailed ? close('failed') : notify(paid.providerPaymentId))
  /** After a second capture, if there is one. */
  const restore = async ({ hasSecond = false } = {}) => {
    if (hasSecond) await notify(deps.provider.pay(paid.payment.paymentRequestId))
    for (const item of before) await putRaw(deps, item)
  }
  return { deps, client, paid, notify, close, restore }
}

describe('a pending payment whose event exists after a restore', () => {
  it('is not credited by a callback, nor with a second capture that suspense holds', async () => {
    const { deps, client, paid, notify, restore } = await eventAlone()
    deps.provider.transactions.push(rowNow(deps, paid))
    await restore({ hasSecond: true })

    await expect(notify(paid.providerPaymentId)).rejects.toThrow('a payment kept changing')
    const differences = await differencesOf(deps, client)
    expect(await recount(deps, client, differences)).toMatchObject({ written: differences, left: [] })

    const record = { action: 'recount-ledger', after: { repaired: differences } }
    expect((await readAuditRecords(deps, paid.payment.paymentId)).records.at(-1)).toMatchObject(record)
    const credited = { status: 'succeeded', creditedProviderPaymentId: paid.providerPaymentId }
    expect(await paymentOf(deps, paid)).toMatchObject(credited)
    await receiveEverything(deps)
    await expectBalanced(deps, client.clientId)
  })

  type Scene = Awaited<ReturnType<typeof eventAlone>>
  const shown =
    (wrong: Partial<ProviderPayment>) =>
    ({ deps: { provider }, paid: { providerPaymentId: id } }: Scene) => {
      const captured = provider.payments.get(id)
      if (captured) provider.payments.set(id, { ...captured, ...wrong })
    }
  const alteredEvent = async ({ deps, paid: { payment } }: Scene) => {
    const event = await rawItem(deps, eventKey(payment.paymentId, 'payment.succeeded'))
    await putRaw(deps, { ...event, body: String(event?.['body']).replace(`:${payment.notionalMinor},`, ':1,') })
  }

  it.each<[string, (scene: Scene) => unknown, { readonly hasFailed?: true; readonly hasSecond?: true }?]>([
    ['suspense holds every capture that the provider shows', () => undefined, { hasSecond: true }],
    ['the payment has ended in another way', ({ close }) => close('expired'), { hasFailed: true }],
    ['its event has another amount', alteredEvent],
    ['the provider shows another amount', shown({ capturedMinor: minor(1) })],
    ['the provider shows another currency', shown({ currency: 'USD' })],
    ['the capture is another payment’s', shown({ reference: referenceOf(paymentIdForKey(aClientId(), 'another'), 1) })],
    ['the provider has received no money', shown({ status: 'open' })],
  ])('is not credited, and is named in the refusal, when %s', async (_, happens, options = {}) => {
    const scene = await eventAlone(options)
    await scene.restore(options)
    await happens(scene)

    const fieldErrors = { expected: [`event of ${scene.paid.payment.paymentId}`] }
    await expectRefused(scene.deps, scene.client, { code: 'validation', details: { fieldErrors } })
  })

  it('waits for a provider that does not answer', async () => {
    const { deps, client, restore } = await eventAlone()
    await restore()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    const message = expect.stringContaining('nothing was written; try again') as unknown
    await expectRefused(deps, client, { code: 'network', message })
  })

  it('is not changed when the event is deleted before the recount writes', async () => {
    const { deps, client, paid, restore } = await eventAlone()
    await restore()
    const differences = await differencesOf(deps, client)
    const overtaken = beforeFirst(deps, 'transact', () => removeEvent(deps, client, paid.payment))

    await expect(recount(overtaken, client, differences)).rejects.toMatchObject({ code: 'conflict' })

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'pending' })
    await expectBalanced(deps, client.clientId)
  })
})
