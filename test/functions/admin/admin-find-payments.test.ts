import { describe, expect } from 'vitest'
import { mapInChunks } from '../../../shared/chunks.ts'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { writePointers } from '../../../shared/payment/creating-store.ts'
import { destinationKey, paymentKey } from '../../../shared/table/keys.ts'
import { addMs, timestampOf } from '../../../shared/time.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import {
  aPendingPayment,
  aStoredClient,
  changeCreated,
  create,
} from '../../support/payment-builders.ts'
import { notifyOf } from '../../support/synced-payment.ts'
import { changeRow, erase } from '../../support/tampering.ts'
import {
  recordTable,
  type TestDeps,
  testDeps,
  withCrowdedSuspense,
} from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'

/** Deps whose provider gives every payment one destination, which only this test uses. */
function depsAt() {
  const destination = `88${Number(`0x${crypto.randomUUID().slice(0, 8)}`)}`
  const deps = testDeps()
  let isLost = false
  changeCreated(deps, { destination }, () => isLost)
  return { deps, destination, loseAnswers: () => void (isLost = true) }
}

const it = testWith(depsAt, 'deps', 'destination', 'loseAnswers')

async function find(deps: TestDeps, payload: object) {
  const { status, body } = await invokeAdmin('find-payments', deps, payload)
  const { data, complete, cursor } = Object(body)
  return {
    status,
    ids: (data as { id: string }[]).map(({ id }) => id),
    complete,
    cursor: cursor as string | undefined,
  }
}

it('find-payments by a provider id shows a payment and its suspense items', async ({
  deps,
  destination,
}) => {
  const client = await aStoredClient(deps)
  const olderPayment = await aPendingPayment(deps, client)
  deps.clock.advance(1)
  const payment = await aPendingPayment(deps, client)
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId, 1)
  await notifyOf(deps, providerPaymentId)

  const suspense = [{ suspense_id: providerPaymentId, cause: 'wrong_amount', amount_minor: 1 }]
  const shown = {
    id: payment.paymentId,
    status: 'failed',
    failure_reason: 'wrong_amount',
    suspense,
  }
  for (const query of [
    { provider_payment_id: providerPaymentId },
    { payment_request_id: payment.paymentRequestId },
  ]) {
    expect(await invokeAdmin('find-payments', deps, query)).toMatchObject({
      status: 200,
      body: { data: [shown] },
    })
    const stranger = await aStoredClient(deps)
    expect((await find(deps, { ...query, client_id: stranger.clientId })).ids).toStrictEqual([])
  }
  deps.provider.silence('getPayment')
  expect(
    await invokeAdmin('find-payments', deps, { provider_payment_id: providerPaymentId }),
  ).toMatchObject({ status: 502 })
  deps.provider.heal('getPayment')
  const watched = recordTable(deps)
  expect((await find(watched.deps, { provider_payment_id: 'py-unknown' })).ids).toStrictEqual([])
  expect(watched.calls).toStrictEqual([])
  const { body } = await invokeAdmin('find-payments', deps, { payment_destination: destination })
  expect(body).toMatchObject({ data: [shown, { id: olderPayment.paymentId }] })
  expect(Object(body).data[1]).not.toHaveProperty('suspense')
})

describe('find-payments by destination', () => {
  it('finds the payments of all merchants, newest first, in pages', async ({
    deps,
    destination,
  }) => {
    const [firstClient, secondClient] = [await aStoredClient(deps), await aStoredClient(deps)]
    const first = await aPendingPayment(deps, firstClient)
    deps.clock.advance(60)
    const second = await aPendingPayment(deps, secondClient)
    const search = { payment_destination: destination }

    const both = { ids: [second.paymentId, first.paymentId], complete: true }
    expect(await find(deps, search)).toMatchObject({ status: 200, ...both })
    expect(await find(deps, { ...search, per_page: 1 })).toMatchObject({
      ids: [second.paymentId],
      complete: false,
    })
    expect(await find(deps, { ...search, per_page: 1, page: 2 })).toMatchObject({
      ids: [first.paymentId],
    })
    expect(await find(deps, { ...search, page: 1_000_000 })).toMatchObject({
      ids: [],
      complete: true,
    })
    const spaced = ` ${destination.slice(0, 4)} ${destination.slice(4, 8)}-${destination.slice(8)} `
    expect(await find(deps, { payment_destination: spaced })).toMatchObject(both)
    expect(await find(deps, { payment_destination: `${destination}0` })).toMatchObject({
      ids: [],
      complete: true,
    })
  })

  it('finds a paid payment although the answer of its create was lost', async ({
    deps,
    destination,
    loseAnswers,
  }) => {
    const client = await aStoredClient(deps)
    loseAnswers()
    await expect(create(deps, client, undefined, 'key')).rejects.toThrow()
    const [paymentRequestId = ''] = deps.provider.requests.keys()
    const providerPaymentId = deps.provider.pay(paymentRequestId)

    expect((await notifyOf(deps, providerPaymentId)).kind).toBe('applied')
    expect((await find(deps, { payment_destination: destination })).ids).toHaveLength(1)
  })

  it('finds a payment once, also by a stale pointer alone, and not by another destination', async ({
    deps,
    destination,
  }) => {
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    const otherDestination = `${destination}1`
    await writePointers(deps, { ...payment, paymentDestination: otherDestination })
    await writePointers(deps, { ...payment, createdAt: addMs(payment.createdAt, -1) })

    const search = { payment_destination: destination, per_page: 1 }
    expect(await find(deps, search)).toMatchObject({ ids: [payment.paymentId] })
    expect(await find(deps, { ...search, page: 2 })).toMatchObject({ ids: [] })
    expect(await find(deps, { payment_destination: otherDestination })).toMatchObject({ ids: [] })
    await erase(deps, destinationKey(destination, payment.createdAt, payment.paymentId))
    expect(await find(deps, search)).toMatchObject({ ids: [payment.paymentId] })
  })

  it('is incomplete if 1,001 pointers have a reference, also two of one payment', async ({
    deps,
  }) => {
    const reference = { externalReference: 'order-1' }
    const payment = await aPendingPayment(deps, await aStoredClient(deps), reference)
    const { clientId } = payment
    const pointElsewhere = (at: number) =>
      writePointers(deps, { ...payment, paymentId: paymentIdForKey(clientId, `${at}`) })
    await mapInChunks([...Array(998).keys()], 50, pointElsewhere)
    await writePointers(deps, { ...payment, createdAt: addMs(payment.createdAt, -1) })
    const search = { client_id: clientId, external_reference: 'order-1' }
    expect(await find(deps, search)).toMatchObject({ complete: true })

    await pointElsewhere(998)

    expect(await find(deps, search)).toMatchObject({ ids: [payment.paymentId], complete: false })
  })

  const ASKED = [{ external_reference: 'order-1' }, undefined]
  it.for(ASKED)(
    'finds a payment of the given client without an index, by %j',
    async (filter, { deps, destination }) => {
      const client = await aStoredClient(deps)
      const payment = await aPendingPayment(deps, client, { externalReference: 'order-1' })
      await changeRow(deps, paymentKey(payment.paymentId), { remove: ['entity'] })

      const search = {
        client_id: client.clientId,
        ...(filter ?? { payment_destination: destination }),
      }

      expect((await find(deps, search)).ids).toStrictEqual([payment.paymentId])
    },
  )
})

describe('find-payments by amount and day', () => {
  it('finds a merchant’s payments of a day in Jakarta, newest first, by status and method', async ({
    deps,
  }) => {
    const client = await aStoredClient(deps)
    const at = async (time: string, notionalMinor = 70_000, method?: 'qris') => {
      deps.clock.set(timestampOf(Date.parse(time)))
      const fields = {
        notionalMinor: minor(notionalMinor),
        ...(method && { method, channelCode: 'QRIS' }),
      }
      return (await aPendingPayment(deps, client, fields)).paymentId
    }
    await at('2026-11-21T16:59:59.999Z')
    const first = await at('2026-11-21T17:00:00.000Z')
    await at('2026-11-22T03:00:00.000Z', 70_001)
    const qris = await at('2026-11-22T04:00:00.000Z', 70_000, 'qris')
    const last = await at('2026-11-22T16:59:59.999Z')
    await at('2026-11-22T17:00:00.000Z')
    const search = { client_id: client.clientId, amount_minor: 70_000, day: '2026-11-22' }

    const all = { status: 200, ids: [last, qris, first], complete: true, cursor: undefined }
    expect(await find(deps, search)).toStrictEqual(all)
    expect((await find(deps, { ...search, method: 'qris' })).ids).toStrictEqual([qris])
    expect((await find(deps, { ...search, status: 'pending' })).ids).toHaveLength(3)
    expect((await find(deps, { ...search, status: 'failed' })).ids).toStrictEqual([])
    const stranger = await aStoredClient(deps)
    expect((await find(deps, { ...search, client_id: stranger.clientId })).ids).toStrictEqual([])
  })

  it('divides a long answer into pages, and shows each payment once', async ({ deps }) => {
    const client = await aStoredClient(deps)
    // The 22nd begins in Jakarta.
    deps.clock.set(timestampOf(Date.parse('2026-11-21T17:00:00Z')))
    const paymentIds = new Set<string>()
    for (let at = 0; at < 229; at++) paymentIds.add((await aPendingPayment(deps, client)).paymentId)
    deps.clock.advance(1)
    await aPendingPayment(deps, client, { notionalMinor: minor(70_000) })
    const search = { client_id: client.clientId, amount_minor: 100_000, day: '2026-11-22' }

    const firstPage = await find(deps, search)
    const secondPage = await find(deps, { ...search, cursor: firstPage.cursor })

    expect([firstPage.complete, secondPage.complete]).toStrictEqual([false, true])
    // A read returns a hundred payments. The first read has 99 of this amount.
    expect([firstPage.ids.length, secondPage.ids.length]).toStrictEqual([199, 30])
    expect(new Set([...firstPage.ids, ...secondPage.ids])).toStrictEqual(paymentIds)
    const field_errors = { cursor: ['must be the cursor of an earlier answer to the same request'] }
    for (const wrong of [{ cursor: 'x' }, { cursor: firstPage.cursor, day: '2026-11-23' }]) {
      expect(
        (await invokeAdmin('find-payments', deps, { ...search, ...wrong })).body,
      ).toMatchObject({ field_errors })
    }
  })
})

const stranger = { client_id: crypto.randomUUID() }
const LINK =
  'payment_destination: must be an account number; find a link or a QR string by ' +
  'provider_payment_id'
const ONE_OF = 'give one of external_reference, payment_destination, provider_payment_id'

it.each([
  [
    { external_reference: 'order-1' },
    422,
    'external_reference needs client_id: each merchant has its own',
  ],
  [{}, 422, `${ONE_OF}, payment_request_id, amount_minor`],
  [{ ...stranger, external_reference: '' }, 422, 'external_reference: must not be empty'],
  [{ external_reference: 'a', payment_destination: '1' }, 422, ONE_OF],
  [{ payment_destination: 'https://pay.example/1' }, 422, LINK],
  [{ payment_destination: '00020101021226QRIS' }, 422, LINK],
  [
    { amount_minor: 1 },
    422,
    'amount_minor needs client_id and day, the day of the create in Jakarta',
  ],
  [
    { payment_destination: '1', day: '2026-11-22' },
    422,
    'day, status, method, cursor need amount_minor',
  ],
  [{ ...stranger, amount_minor: 1, day: '2026-11-31' }, 422, 'day'],
  [
    { ...stranger, amount_minor: 1, day: '2026-11-22', page: 2 },
    422,
    'amount_minor takes cursor, not page',
  ],
  [{ ...stranger, amount_minor: 1, day: '2026-11-22' }, 404, 'client not found'],
])('find-payments refuses %j with %i: %s', async (payload, status, message) => {
  const answer = await invokeAdmin('find-payments', testDeps(), payload)

  expect(answer.status).toBe(status)
  expect(JSON.stringify(answer.body)).toContain(message)
})

it('find-payments and get-payment are incomplete when one call cannot read all newer suspense items, or all payments of a day: 5,000 a call', async ({
  deps,
}) => {
  const payment = await aPendingPayment(deps, await aStoredClient(deps))
  const crowded = () => withCrowdedSuspense(deps, undefined)

  const search = { payment_request_id: payment.paymentRequestId }
  expect(await find(crowded(), search)).toMatchObject({ ids: [payment.paymentId], complete: false })
  expect(
    await invokeAdmin('get-payment', crowded(), { payment_id: payment.paymentId }),
  ).toMatchObject({ body: { timeline: { suspense: [], suspense_complete: false } } })
  const ofDay = { client_id: payment.clientId, amount_minor: 1, day: '2026-11-20' }
  const busy = crowded()
  for (const complete of [false, true]) expect(await find(busy, ofDay)).toMatchObject({ complete })
})
