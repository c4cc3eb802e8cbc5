/**
 * Goal: a payment of which a restore kept only the event is credited only with the capture that
 * paid it.
 */

import { describe, expect } from 'vitest'
import { paymentIdForKey, referenceOf, subjectOfPayment } from '../../../shared/ids.ts'
import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { minor } from '../../../shared/money.ts'
import { readAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import type { ProviderPayment } from '../../../shared/provider/provider.ts'
import { deflateText } from '../../../shared/table/deflated-text.ts'
import {
  eventKey,
  paymentKey,
  settlementKey,
  shardKey,
  windowKey,
} from '../../../shared/table/keys.ts'
import { entryKeyOf } from '../../support/money-rows.ts'
import { aDigestOfShard, aSucceededPayment } from '../../support/paid-builders.ts'
import { aClientId, succeededKey } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aLoneClient, BANK, payOut, sweptADayLater } from '../../support/settlement-builders.ts'
import {
  creditedPayment,
  expectPayment,
  notifyOf,
  paidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import {
  alter,
  alterBody,
  alterSettlement,
  erase,
  putRaw,
  rawItem,
} from '../../support/tampering.ts'
import { beforeCommit, memoryDeps } from '../../support/test-deps.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { FLOWS, receiveEverything, refundRow, syncRows } from './torn-flows.ts'
import { differencesOf, expectNamed, recount, removeEvent, tearFlow } from './torn-world.ts'

it('a recount counts a payout that the window has lost, at its time', async ({ deps, client }) => {
  await aSucceededPayment(deps, client)
  const settlement = await sweptADayLater(deps, client)
  const lostWindow = await rawItem(deps, windowKey(client.clientId))
  const { settledAt } = await payOut(deps, settlement)
  const windowAfter = await readWindow(deps, client.clientId)
  await putRaw(deps, lostWindow)

  await recount(deps, client)

  expect(await readWindow(deps, client.clientId)).toStrictEqual(windowAfter)
  expect(windowAfter).toMatchObject({ paidOutMinor: settlement.netMinor, changedAt: settledAt })
})

it('a recount writes lost shards anew, and a lost window', async ({ deps, client }) => {
  const { clientId } = client
  await aSucceededPayment(deps, client, { keyDigest: aDigestOfShard(client, 0) })
  for (const lost of [[shardKey(clientId, 0), shardKey(clientId, 1)], [windowKey(clientId)]]) {
    for (const key of lost) await erase(deps, key)
    const { written } = await recount(deps, client)
    expect(written).toMatchObject([{ repair: 'put' }])
    // Their sums follow with the second recount.
    await recount(deps, client)
    await expectBalanced(deps, { clientId })
  }
})

it('a recount names what it does not repair of a settlement', async ({
  deps,
  client,
  settlement,
}) => {
  const key = settlementKey(settlement.settlementId)
  const row = await rawItem(deps, key)
  await alter(deps, key, { colour: 'green', bank: { ...BANK, bankAccountNo: '6660001' } })

  await expectNamed(deps, client, { what: 'settlement.bank' })
  await putRaw(deps, row)
})

it('an audit puts a settlement that the list lacks into the order of windows', async () => {
  const { deps, client } = await aLoneClient()
  const settle = async () => (await aSucceededPayment(deps, client), sweptADayLater(deps, client))
  const [{ settlementId }] = [await settle(), await settle()]
  await alterSettlement(deps, { settlementId }, { owner: 'x' })

  expect(await differencesOf(deps, client)).toMatchObject([{ what: 'settlement.owner' }])
})

async function anEventAlone({ hasFailed = false } = {}) {
  const { deps, client } = await aLoneClient()
  const paid = await paidUpstream(deps, client)
  const { paymentId } = paid.payment
  const rowsBefore = await Promise.all(
    [paymentKey(paymentId), shardOf(paid.payment)].map((key) => rawItem(deps, key)),
  )
  const notify = (providerPaymentId: string) => notifyOf(deps, providerPaymentId)
  const close = (status: 'failed' | 'expired') =>
    closePayment(deps, paid.payment, { status, source: 'callback' })
  await (hasFailed ? close('failed') : notify(paid.providerPaymentId))
  let second = ''
  const restore = async ({ hasSecond = false } = {}) => {
    if (hasSecond) {
      // Money that is held in the first minutes of a payment may not be shown.
      deps.clock.advance(180)
      second = deps.provider.pay(paid.payment.paymentRequestId)
      await notify(second)
    }
    for (const item of rowsBefore) await putRaw(deps, item)
  }
  return { deps, client, paid, notify, close, restore, notifySecond: () => notify(second) }
}

describe('a pending payment whose event exists after a restore', () => {
  it.for([
    ['is credited', false],
    ['ends', true],
  ] as const)('%s by a callback, at the time that its event shows', async ([, hasFailed]) => {
    const { deps, client, paid, notify, close, restore } = await anEventAlone({ hasFailed })
    const { status, paidAt, capture, transitions } = await paymentOf(deps, paid)
    await restore()
    deps.clock.advance(3_600)

    await (hasFailed ? close('failed') : notify(paid.providerPaymentId))

    await expectPayment(deps, paid, { status, transitions, ...(capture && { paidAt, capture }) })
    await expectBalanced(deps, client)
  })

  it('takes no unknown reason from an altered event', async () => {
    const { deps, paid, close, restore } = await anEventAlone({ hasFailed: true })
    await restore()
    const before = await paymentOf(deps, paid)
    const { payment } = paid
    const event = eventKey(subjectOfPayment(payment.paymentId), 'payment.failed')
    await alterBody(deps, event, '"failure_reason":"other"', '"failure_reason":"x"')

    expect(await close('failed')).toBeUndefined()
    expect(await paymentOf(deps, paid)).toStrictEqual(before)
  })

  it('is not credited with a second capture that suspense holds', async () => {
    const { deps, client, paid, restore, notifySecond } = await anEventAlone()
    deps.provider.transactions.push(rowNow(deps, paid))
    await restore({ hasSecond: true })

    await expect(notifySecond()).rejects.toThrow('a payment kept changing')
    const { written } = await recount(deps, client)

    const { paymentId } = paid.payment
    expect((await readAuditRecords(deps, paymentId)).records.at(-1)).toMatchObject({
      action: 'recount-ledger',
      operator: 'ana',
      after: { repaired: written?.find(({ subject }) => subject === paymentId)?.differences },
    })
    const credited = { status: 'succeeded', capture: { providerPaymentId: paid.providerPaymentId } }
    await expectPayment(deps, paid, credited)
    await receiveEverything(deps)
    await expectBalanced(deps, client)
  })

  type Scene = Awaited<ReturnType<typeof anEventAlone>>
  const showCapture =
    (wrongFields: Partial<ProviderPayment>) =>
    ({ deps: { provider }, paid: { providerPaymentId: id } }: Scene) => {
      const captured = provider.payments.get(id)
      if (captured) provider.payments.set(id, { ...captured, ...wrongFields })
    }
  const alterEvent = ({ deps, paid: { payment } }: Scene) =>
    alterBody(deps, succeededKey(payment), `:${payment.notionalMinor},`, ':1,')

  it.each<
    [string, (scene: Scene) => unknown, { readonly hasFailed?: true; readonly hasSecond?: true }?]
  >([
    ['suspense holds every capture that the provider shows', () => undefined, { hasSecond: true }],
    ['the payment has ended in another way', ({ close }) => close('expired'), { hasFailed: true }],
    ['its event has another amount', alterEvent],
    [
      'its event has a body without data',
      ({ deps, paid: { payment } }) =>
        alter(deps, succeededKey(payment), { body: deflateText('{}') }),
    ],
    ['the provider shows another amount', showCapture({ capturedMinor: minor(1) })],
    ['the provider shows another currency', showCapture({ currency: 'USD' })],
    [
      'the capture is another payment’s',
      showCapture({ reference: referenceOf(paymentIdForKey(aClientId(), 'another'), 1) }),
    ],
    ['the provider has received no money', showCapture({ status: 'open' })],
  ])('is not credited, and is named, when %s', async (_, act, options = {}) => {
    const scene = await anEventAlone(options)
    await scene.restore(options)
    await act(scene)

    const before = await paymentOf(scene.deps, scene.paid)
    await expectNamed(scene.deps, scene.client, { what: 'event', id: scene.paid.payment.paymentId })
    await recount(scene.deps, scene.client)

    const { held, ...after } = await paymentOf(scene.deps, scene.paid)
    expect(after).toStrictEqual(before)
    expect(held?.map(({ cause }) => cause)).toStrictEqual(
      options.hasSecond ? ['second_capture'] : undefined,
    )
  })

  it.each(['getPayment', 'listTransactions'] as const)(
    'waits for a provider that does not answer: %s',
    async (call) => {
      const { deps, client, paid, restore } = await anEventAlone()
      await restore()
      deps.provider.silence(call)

      const { left } = await recount(deps, client)

      const why = expect.stringContaining('the provider did not answer')
      expect(left).toStrictEqual([{ id: paid.payment.paymentId, why }])
      deps.provider.heal(call)
      await recount(deps, client)
      await expectBalanced(deps, client)
    },
  )

  it('is not changed when the event is deleted before the recount writes', async () => {
    const { deps, client, paid, restore } = await anEventAlone()
    await restore()
    const overtaken = beforeCommit(deps, () => removeEvent(deps, client, paid.payment))

    const { left } = await recount(overtaken, client)

    expect(left).toContainEqual(expect.objectContaining({ id: paid.payment.paymentId }))
    await expectPayment(deps, paid, { status: 'pending' })
    await expectBalanced(deps, client)
  })
})

it('a payment whose posting was lost is not posted by the entry of a later row', async () => {
  const { deps, client } = await aLoneClient()
  const paid = await creditedPayment(deps, client)
  const { transactions } = deps.provider
  transactions.push(refundRow(30_000)(deps, paid))
  await syncRows(deps)
  const open = await rawItem(deps, paymentKey(paid.payment.paymentId))
  deps.clock.advance(60)
  transactions.push(rowNow(deps, paid))
  await syncRows(deps)
  const updatedAt = deps.now()
  Object.assign(transactions[0] ?? {}, { status: 'reversed', reversalKind: undefined, updatedAt })
  await syncRows(deps)
  const posted = await paymentOf(deps, paid)
  for (const type of ['payment', 'refund']) await erase(deps, entryKeyOf(posted, type))
  await putRaw(deps, open)

  await recount(deps, client)

  expect(await rawItem(deps, paymentKey(paid.payment.paymentId))).toStrictEqual(open)
})

it('the entry of a refund posts a payment that lost its posting', async ({ deps, client }) => {
  const paid = await creditedPayment(deps, client)
  const open = await rawItem(deps, paymentKey(paid.payment.paymentId))
  for (const row of [rowNow(deps, paid), refundRow(30_000)(deps, paid)]) {
    deps.provider.transactions.push(row)
    await syncRows(deps)
    deps.clock.advance(60)
  }
  await erase(deps, entryKeyOf(await paymentOf(deps, paid)))
  await putRaw(deps, open)
  deps.provider.silence('listTransactions')
  expect((await recount(deps, client)).left).toHaveLength(1)
  deps.provider.heal('listTransactions')

  await recount(deps, client)

  await expectPayment(deps, paid, { takenBackMinor: minor(30_000) })
})

describe('a restored table that kept an entry without its posting', async () => {
  const torn = await tearFlow(FLOWS['is posted long after it was paid'])
  const state = torn.states.find(({ title }) => title === '1: only entry')

  it.each([
    ['twice when the stage opens before the recount', 2, async () => {}],
    ['once when the recount comes first', 1, recount],
  ])('settles the payment %s', async (_, times, repair) => {
    const deps = state?.world() ?? memoryDeps()

    await repair(deps, torn.client)
    await syncRows(deps)

    const settlement = await sweptADayLater(deps, torn.client)
    expect(settlement).toMatchObject({ paymentCount: times, grossMinor: times * 100_000 })
  })
})
