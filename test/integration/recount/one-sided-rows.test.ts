/**
 * Goal: a payment of which a restore kept only the event is credited only with the capture that
 * paid it. Method: the tests remove rows and put them back, as a restore does, or alter what the
 * provider shows of the capture.
 */

import { describe, expect } from 'vitest'
import { paymentIdForKey, referenceOf, subjectOfPayment } from '../../../shared/ids.ts'
import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { minor } from '../../../shared/money.ts'
import { readAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import type { ProviderPayment } from '../../../shared/provider/provider.ts'
import { deflateText, inflateText } from '../../../shared/table/deflated-text.ts'
import { entryKey, eventKey, type Key, paymentKey } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { aClientId } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { sweptADayLater, withoutFloor } from '../../support/settlement-builders.ts'
import { paidUpstream, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, memoryDeps } from '../../support/test-deps.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { receiveEverything } from './torn-flows.ts'
import { differencesOf, expectRefused, recount, removeEvent } from './torn-world.ts'

function keysOf(payment: Payment): readonly Key[] {
  return entriesOf(payment).map((entry) => entryKey(payment.clientId, entry))
}

it('a recount puts back an entry that a settlement has taken, and credits nothing', async ({
  deps,
  client,
}) => {
  const payment = await aSucceededPayment(deps, client)
  await sweptADayLater(deps, client)
  for (const key of keysOf(payment)) await deps.table.write(remove(key, exists))

  const missing = (await differencesOf(deps, client)).filter(({ found }) => found === 'missing')
  await recount(deps, client, missing)

  await expectBalanced(deps, client.clientId)
})

async function anEventAlone({ hasFailed = false } = {}) {
  const deps = memoryDeps()
  const client = await withoutFloor(deps)
  const paid = await paidUpstream(deps, client)
  const { paymentId } = paid.payment
  const rowsBefore = await Promise.all(
    [paymentKey(paymentId), shardOf(paid.payment)].map((key) => rawItem(deps, key)),
  )
  const notify = (providerPaymentId: string) =>
    applyProviderNews(deps, { providerPaymentId }, 'callback')
  const close = (status: 'failed' | 'expired') =>
    closePayment(deps, paid.payment, { status, source: 'callback' })
  await (hasFailed ? close('failed') : notify(paid.providerPaymentId))
  const restore = async ({ hasSecond = false } = {}) => {
    if (hasSecond) await notify(deps.provider.pay(paid.payment.paymentRequestId))
    for (const item of rowsBefore) await putRaw(deps, item)
  }
  return { deps, client, paid, notify, close, restore }
}

describe('a pending payment whose event exists after a restore', () => {
  it('is not credited by a callback, nor with a second capture that suspense holds', async () => {
    const { deps, client, paid, notify, restore } = await anEventAlone()
    deps.provider.transactions.push(rowNow(deps, paid))
    await restore({ hasSecond: true })

    await expect(notify(paid.providerPaymentId)).rejects.toThrow('a payment kept changing')
    const differences = await differencesOf(deps, client)
    expect(await recount(deps, client, differences)).toMatchObject({
      written: differences,
      left: [],
    })

    const record = { action: 'recount-ledger', after: { repaired: differences } }
    expect((await readAuditRecords(deps, paid.payment.paymentId)).records.at(-1)).toMatchObject(
      record,
    )
    const credited = { status: 'succeeded', creditedProviderPaymentId: paid.providerPaymentId }
    expect(await paymentOf(deps, paid)).toMatchObject(credited)
    await receiveEverything(deps)
    await expectBalanced(deps, client.clientId)
  })

  type Scene = Awaited<ReturnType<typeof anEventAlone>>
  const showCapture =
    (wrongFields: Partial<ProviderPayment>) =>
    ({ deps: { provider }, paid: { providerPaymentId: id } }: Scene) => {
      const captured = provider.payments.get(id)
      if (captured) provider.payments.set(id, { ...captured, ...wrongFields })
    }
  const alterEvent = async ({ deps, paid: { payment } }: Scene) => {
    const event = await rawItem(
      deps,
      eventKey(subjectOfPayment(payment.paymentId), 'payment.succeeded'),
    )
    await putRaw(deps, {
      ...event,
      body: deflateText(
        String(inflateText(event?.['body'])).replace(`:${payment.notionalMinor},`, ':1,'),
      ),
    })
  }

  it.each<
    [string, (scene: Scene) => unknown, { readonly hasFailed?: true; readonly hasSecond?: true }?]
  >([
    ['suspense holds every capture that the provider shows', () => undefined, { hasSecond: true }],
    ['the payment has ended in another way', ({ close }) => close('expired'), { hasFailed: true }],
    ['its event has another amount', alterEvent],
    ['the provider shows another amount', showCapture({ capturedMinor: minor(1) })],
    ['the provider shows another currency', showCapture({ currency: 'USD' })],
    [
      'the capture is another payment’s',
      showCapture({ reference: referenceOf(paymentIdForKey(aClientId(), 'another'), 1) }),
    ],
    ['the provider has received no money', showCapture({ status: 'open' })],
  ])('is not credited, and is named in the refusal, when %s', async (_, act, options = {}) => {
    const scene = await anEventAlone(options)
    await scene.restore(options)
    await act(scene)

    const fieldErrors = { expected: [`event of ${scene.paid.payment.paymentId}`] }
    await expectRefused(scene.deps, scene.client, { code: 'validation', details: { fieldErrors } })
  })

  it('waits for a provider that does not answer', async () => {
    const { deps, client, restore } = await anEventAlone()
    await restore()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    const message = expect.stringContaining('nothing was written; try again') as unknown
    await expectRefused(deps, client, { code: 'network', message })
  })

  it('is not changed when the event is deleted before the recount writes', async () => {
    const { deps, client, paid, restore } = await anEventAlone()
    await restore()
    const differences = await differencesOf(deps, client)
    const overtaken = beforeFirst(deps, 'transact', () => removeEvent(deps, client, paid.payment))

    await expect(recount(overtaken, client, differences)).rejects.toMatchObject({
      code: 'conflict',
    })

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'pending' })
    await expectBalanced(deps, client.clientId)
  })
})
