/**
 * Goal: an entry that becomes visible after its window was summed is paid out once (design section
 * 4), and a payment of which a restore kept only the event is credited only with the capture that
 * paid it. Method: the tests remove rows and put them back, as a slow commit or a restore does, or
 * alter what the provider shows of the capture.
 */

import { describe, expect } from 'vitest'
import { readClientBook } from '../../../shared/books/get-books.ts'
import type { Client } from '../../../shared/client/client.ts'
import { paymentIdForKey, referenceOf, subjectOfPayment } from '../../../shared/ids.ts'
import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { minor } from '../../../shared/money.ts'
import { readAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import type { ProviderPayment } from '../../../shared/provider/provider.ts'
import { settlementEntries } from '../../../shared/settlement/statement/settlement-entries.ts'
import { deflateText, inflateText } from '../../../shared/table/deflated-text.ts'
import { entryKey, eventKey, type Key, paymentKey, windowKey } from '../../../shared/table/keys.ts'
import { exists, remove, update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { aClientId } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { payOut, sweptADayLater, withoutFloor } from '../../support/settlement-builders.ts'
import { paidUpstream, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { receiveEverything } from './torn-flows.ts'
import { differencesOf, expectRefused, recount, removeEvent } from './torn-world.ts'

async function settleWithoutLate(deps: TestDeps, client: Client) {
  for (let at = 0; at < 2; at++) await aSucceededPayment(deps, client)
  deps.clock.advance(1)
  const latePayment = await aSucceededPayment(deps, client, { notionalMinor: 70_000 })
  const { settlement, items } = await sweepWithout(deps, client, keysOf(latePayment))
  for (const item of items) await putRaw(deps, item)
  return { settlement, latePayment }
}

function keysOf(payment: Payment): readonly Key[] {
  return entriesOf(payment).map((entry) => entryKey(payment.clientId, entry))
}

/** The entries of `keys` become visible after the settlement. */
async function sweepWithout(deps: TestDeps, client: Client, keys: readonly Key[]) {
  const items = await Promise.all(keys.map((key) => rawItem(deps, key)))
  for (const key of keys) await deps.table.write(remove(key, exists))
  return { settlement: await sweptADayLater(deps, client), items }
}

describe('recount-ledger: an entry outside its settlement', () => {
  it('is re-credited alone, and paid out by the next settlement', async ({ deps, client }) => {
    const { settlement, latePayment } = await settleWithoutLate(deps, client)

    await recount(deps, client)

    await expectBalanced(deps, client.clientId)
    expect(await readWindow(deps, client.clientId)).toMatchObject({
      availableMinor: latePayment.netMinor,
    })
    await payOut(deps, settlement)
    const nextSettlement = await sweptADayLater(deps, client)
    const { netMinor } = latePayment
    expect(nextSettlement).toMatchObject({
      netMinor,
      recreditedMinor: netMinor,
      paymentCount: 1,
      unprovenMinor: 0,
    })
    await payOut(deps, nextSettlement)
    const windowAfter = {
      availableMinor: 0,
      inSettlementMinor: 0,
      paidOutMinor: settlement.netMinor + netMinor,
    }
    expect(await readWindow(deps, client.clientId)).toMatchObject(windowAfter)
  })

  it('is in the books once, and not in the statement of the settlement', async ({
    deps,
    client,
  }) => {
    const { settlement, latePayment } = await settleWithoutLate(deps, client)
    await recount(deps, client)
    await sweptADayLater(deps, client)

    const request = { clientId: client.clientId, id: settlement.settlementId, limit: 100 }
    const { entries } = await settlementEntries(deps, request)
    const { book, differences } = await readClientBook(deps, client.clientId, {
      from: '2026-11-01',
      to: '2026-11-30',
    })

    expect(entries.map(({ payment_id: id }) => id)).not.toContain(latePayment.paymentId)
    expect(entries).toHaveLength(2)
    expect(differences).toStrictEqual([])
    expect(book).toMatchObject({
      'taken_in.virtual_account': 270_000,
      clients: settlement.netMinor + latePayment.netMinor,
    })
  })

  it('that is a write-off counts once among the write-offs', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    const { entry } = await adjustBalance(deps, client, 'written_off', 10_000)
    const { items } = await sweepWithout(deps, client, [entryKey(client.clientId, entry)])
    for (const item of items) await putRaw(deps, item)

    await recount(deps, client)

    await expectBalanced(deps, client.clientId)
    await sweptADayLater(deps, client)
    expect(await readWindow(deps, client.clientId)).toMatchObject({ writtenOffMinor: 10_000 })
  })

  it('is re-credited once by two recounts at the same moment', async ({ deps, client }) => {
    const { latePayment } = await settleWithoutLate(deps, client)
    const raced = beforeFirst(deps, 'transact', () => recount(deps, client))

    await expect(recount(raced, client)).rejects.toMatchObject({ code: 'conflict' })

    expect(await readWindow(deps, client.clientId)).toMatchObject({
      availableMinor: latePayment.netMinor,
    })
  })

  it('waits for the next recount when a window is closed meanwhile', async ({ deps, client }) => {
    const { latePayment } = await settleWithoutLate(deps, client)
    const raced = beforeFirst(deps, 'transact', () => {
      const closedUntil = addMs(deps.now(), MINUTE_MS)
      return deps.table.write(update(windowKey(client.clientId), { set: { closedUntil } }))
    })

    await recount(raced, client).catch(() => undefined)

    expect(await readWindow(deps, client.clientId)).toMatchObject({ availableMinor: 0 })
    deps.clock.advance(120)
    await recount(deps, client)
    expect(await readWindow(deps, client.clientId)).toMatchObject({
      availableMinor: latePayment.netMinor,
    })
  })

  it('is re-credited after another entry of the same settlement', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    const latePayments = [
      await aSucceededPayment(deps, client),
      await aSucceededPayment(deps, client),
    ]
    const { items } = await sweepWithout(deps, client, latePayments.flatMap(keysOf))

    for (const item of items) {
      await putRaw(deps, item)
      for (let round = 0; round < 3; round++) await recount(deps, client)
    }

    const availableMinor = latePayments.reduce((sum, { netMinor }) => sum + netMinor, 0)
    expect(await readWindow(deps, client.clientId)).toMatchObject({ availableMinor })
  })
})

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
