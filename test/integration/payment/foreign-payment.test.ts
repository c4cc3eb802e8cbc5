/**
 * Goal: money of one client's payment never reaches another client. Method: the payment is moved by
 * the writes that functions behind the API may make: its row, and the shards of both clients. The
 * books of both clients then add up.
 */
import { describe, expect } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditFigures } from '../../../shared/audit/judged/audit-figures.ts'
import { readClientBooks } from '../../../shared/audit/judged/client-books.ts'
import type { Client } from '../../../shared/client/client.ts'
import { COUNT_FIELD, shardOf } from '../../../shared/ledger/shard-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import { refreshPayment } from '../../../shared/payment/news/refresh-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { bookRefund } from '../../support/money-rows.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { anOpenPayment, aTransaction, entriesIn, post } from '../../support/paid-builders.ts'
import {
  aCreating,
  aPendingPayment,
  checkWhenDue,
  create,
  eventOf,
  LEASE_MS,
  ledgerView,
  payFirst,
  succeededKey,
} from '../../support/payment-builders.ts'
import {
  BANK,
  payOut,
  settle,
  settledAmount,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import {
  expectSuspense,
  findingAbout,
  notifyOf,
  type PaidUpstream,
  paidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { alter, alterBody, changeRow, putRaw, rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { expectNamed } from '../recount/torn-world.ts'
import { syncTest } from '../sync/sync-test.ts'

const it = syncTest
  .extend('other', ({ deps }) => withoutFloor(deps, { bank: BANK }))
  .extend('moved', async ({ deps, paid, other }) => {
    await move(deps, paid.payment, other)
    return paid
  })
  .extend('loser', ({ deps }) => withoutFloor(deps))
  .extend('movedOpen', async ({ deps, loser, other }) => {
    const payment = await anOpenPayment(deps, loser)
    await move(deps, payment, other)
    return payment
  })

async function move(deps: TestDeps, payment: Payment, { clientId }: Client) {
  const { paymentId, status } = payment
  const creditedMinor = status === 'succeeded' ? payment.netMinor : 0
  const shift = (factor: 1 | -1) => ({
    [COUNT_FIELD[status]]: factor,
    creditedMinor: factor * creditedMinor,
  })
  await changeRow(deps, paymentKey(paymentId), { set: { owner: clientId } })
  await changeRow(deps, shardOf(payment), { add: shift(-1) })
  await changeRow(deps, shardOf({ clientId, paymentId }), { add: shift(1) })
}

function differenceOf({ paymentId, clientId }: Payment, { clientId: found }: Client) {
  return { what: 'payment.client_id', id: paymentId, expected: clientId, found }
}

describe('a pending payment whose row names another client', () => {
  type Scene = {
    readonly deps: TestDeps
    readonly moved: PaidUpstream
    readonly sync: (row: ReturnType<typeof rowNow>) => Promise<unknown>
  }
  it.for<readonly [string, (scene: Scene) => Promise<unknown>]>([
    ['a callback', ({ deps, moved }) => applyProviderNews(deps, moved, 'callback')],
    ['the row of the sync', ({ deps, moved, sync }) => sync(rowNow(deps, moved))],
    ['due work', ({ deps, moved }) => checkWhenDue(deps, moved.payment)],
    [
      'an operator’s refresh',
      ({ deps, moved }) => refreshPayment(deps, moved.payment.paymentId, OPERATOR),
    ],
  ])(
    'is not credited by %s: its money is held, its due work ends, and the audit names its client',
    async ([, act], { deps, client, other, moved, sync }) => {
      const { payment, providerPaymentId } = moved

      await act({ deps, moved, sync })
      await checkWhenDue(deps, payment)

      const item = await findSuspense(deps, providerPaymentId)
      const { paymentId } = payment
      expect(item).toMatchObject({ kind: 'money', cause: 'payment_foreign', paymentId })
      expect(item).not.toHaveProperty('clientId')
      expect((await paymentOf(deps, moved)).status).toBe('pending')
      expect(await eventOf(deps, payment, 'payment.succeeded')).toBeUndefined()
      expect(await ledgerView(deps, client)).toStrictEqual({ pendingMinor: 0 })
      expect(await ledgerView(deps, other)).toStrictEqual({ pendingMinor: 0, pending: 1 })
      expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
      expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.money'])
      const { differences } = await auditLedger(deps, other.clientId)
      expect(differences).toContainEqual(differenceOf(payment, other))
    },
  )

  it('cannot pay another payment of that client by its id and digest', async ({
    deps,
    other,
    paid,
  }) => {
    const own = await aPendingPayment(deps, other)
    const { clientId: owner, paymentId: id, keyDigest } = own
    const key = paymentKey(paid.payment.paymentId)
    const before = await rawItem(deps, key)
    await changeRow(deps, key, { set: { owner, id, keyDigest } })

    await applyProviderNews(deps, paid, 'callback')

    await expectSuspense(deps, paid.providerPaymentId, { cause: 'payment_foreign' })
    expect((await findStoredPayment(deps, own.paymentId))?.status).toBe('pending')
    await putRaw(deps, before)
  })

  it('never ends: it does not expire, and that client can neither read nor cancel it', async ({
    deps,
    client,
    other,
  }) => {
    const payment = await aPendingPayment(deps, client)
    await move(deps, payment, other)
    deps.provider.close(payment.paymentRequestId, 'failed')
    const { clientId } = other
    deps.clock.set(addMs(payment.expiresAt ?? deps.now(), 1))

    await expect(cancelPayment(deps, { clientId, id: payment.paymentId })).rejects.toThrow(
      'not found',
    )
    await checkWhenDue(deps, payment)

    const stored = await findStoredPayment(deps, payment.paymentId)
    expect(stored).toEqual({ ...payment, clientId, dueAt: undefined })
    expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
  })
})

syncTest('a create of a changed row is not taken over, and its money is held', async ({ deps }) => {
  const { client, creating } = await aCreating({}, deps)
  const { paymentId } = creating
  const set = { clientId: crypto.randomUUID() }
  await changeRow(deps, paymentKey(paymentId), { set })
  await aPendingPayment(deps, client)
  const { providerPaymentId } = payFirst(deps)
  const capture = deps.provider.payments.get(providerPaymentId)
  Object.assign(capture ?? {}, { reference: `${paymentId}-1` })

  await notifyOf(deps, providerPaymentId)
  // The running attempt may still commit the payment of the right client.
  expect(await findSuspense(deps, providerPaymentId)).toBeUndefined()
  deps.clock.pass(LEASE_MS)
  await notifyOf(deps, providerPaymentId)

  await expect(create(deps, client, creating.request, 'key-1')).rejects.toThrow('another client')
  expect((await findStoredPayment(deps, paymentId))?.status).toBe('creating')
  await expectSuspense(deps, providerPaymentId, { cause: 'payment_foreign' })
})

describe('a credited payment whose row names another client', () => {
  it.for([
    ['by its row', false],
    ['after seven days', true],
  ])(
    'is not posted %s: it stays open with a finding, and that client is not paid',
    async ([, isOverdue], { deps, loser, other, movedOpen, sync }) => {
      const settlement = await settledAmount(deps, other)

      if (isOverdue) {
        deps.clock.pass(7 * DAY_MS)
        await settle(deps, other)
      } else await sync(aTransaction(movedOpen))

      const { paymentId, openAt } = movedOpen
      expect(await findStoredPayment(deps, paymentId)).toMatchObject({ openAt })
      const finding = await findingAbout(deps, paymentId, 'payment_foreign')
      expect(finding).toMatchObject({ kind: 'finding', paymentId })
      expect(finding).not.toHaveProperty('clientId')
      expect(await entriesIn(deps, loser)).toStrictEqual([])
      await expectNamed(deps, loser, { what: 'event', id: paymentId })
      expect((await entriesIn(deps, other)).map((entry) => entry.paymentId)).not.toContain(
        paymentId,
      )
      const books = await readClientBooks(deps, other)
      expect(await auditFigures(deps, books)).toContainEqual(differenceOf(movedOpen, other))
      await auditClient(deps, other.clientId)
      await expect(payOut(deps, settlement)).rejects.toThrow('do not balance')
    },
  )

  it('loses nothing by a refund: the house books the refund’s row', async ({
    deps,
    loser,
    other,
    movedOpen,
    sync,
  }) => {
    const refund = { ...aTransaction(movedOpen), transactionId: 'txn_refund', type: 'return' }
    const before = await Promise.all(
      [loser, other].map(({ clientId }) => ledgerView(deps, { clientId })),
    )

    await sync(refund as ReturnType<typeof aTransaction>)

    const after = await Promise.all(
      [loser, other].map(({ clientId }) => ledgerView(deps, { clientId })),
    )
    expect(after).toStrictEqual(before)
    expect(await findStoredPayment(deps, movedOpen.paymentId)).toMatchObject({ movements: [] })
    await expectSuspense(deps, 'txn_refund#reversed_upstream', { paymentId: movedOpen.paymentId })
  })

  it('is neither credited nor posted for that client by a recount', async ({ deps }) => {
    const [client, other] = [await withoutFloor(deps), await withoutFloor(deps)]
    const paid = await paidUpstream(deps, client)
    const key = paymentKey(paid.payment.paymentId)
    const before = await rawItem(deps, key)
    await applyProviderNews(deps, paid, 'callback')
    await putRaw(deps, { ...before, owner: other.clientId })
    const event = succeededKey(paid.payment)
    await alterBody(deps, event, client.clientId, other.clientId)
    await alter(deps, event, { owner: other.clientId })

    await expectNamed(deps, other, { what: expect.stringMatching('event') })
  })

  it('cannot be refunded from that client’s money', async ({ deps, other, movedOpen }) => {
    const before = await ledgerView(deps, other)

    const reply = await invokeAdmin('refund-payment', deps, {
      operator: OPERATOR,
      payment_id: movedOpen.paymentId,
      amount_minor: 50_000,
      bank_reference: 'BCA1',
    })
    const payment = await paymentOf(deps, { payment: movedOpen })

    expect(reply.status).toBe(422)
    expect(reply.body).toHaveProperty('message', expect.stringContaining('does not belong to'))
    await expect(bookRefund(deps, payment, 50_000)).rejects.toThrow('its own client')
    expect(await ledgerView(deps, other)).toStrictEqual(before)
  })

  it('gets no entry in that client’s journal by a recount', async ({ deps, client, other }) => {
    const payment = await post(deps, await anOpenPayment(deps, client))
    await move(deps, payment, other)

    await expectNamed(deps, other, { what: expect.stringMatching('entry') })

    expect(await entriesIn(deps, other)).toStrictEqual([])
    await move(deps, { ...payment, clientId: other.clientId }, client)
  })
})
