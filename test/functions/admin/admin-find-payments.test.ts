import { describe, expect, it } from 'vitest'
import { handler as findPayments } from '../../../functions/admin/find-payments.ts'
import { putPointers } from '../../../shared/payment/creating-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aPendingPayment, aStoredClient, create } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

/** A provider that gives out one destination, which no other test has; `hear` says whether its answers to creates arrive. */
const depsAt = (destination = `8${crypto.randomUUID()}`) => {
  const deps = testDeps()
  let isHeard = true
  deps.provider.script('createRequest', async (input, timeoutMs) => {
    const answer = await deps.provider.healthy.createRequest(input, timeoutMs)
    if (answer.kind !== 'created') return answer
    const request = { ...answer.request, destination }
    deps.provider.requests.set(request.paymentRequestId, { ...request, input })
    return isHeard ? { kind: 'created', request } : { kind: 'unknown', reason: 'timeout' }
  })
  return { deps, destination, goDeaf: () => void (isHeard = false) }
}

const found = async (deps: TestDeps, payload: object) => {
  const { status, body } = await invokeAdmin(findPayments, deps, payload)
  const { data, complete } = body as { readonly data: readonly { readonly id: string }[]; readonly complete: boolean }
  return { status, ids: data.map(({ id }) => id), complete }
}

const ONE_OF =
  'give one of external_reference, payment_destination, provider_payment_id, payment_request_id, amount_minor'

describe('find-payments by what a customer has paid', () => {
  it('finds an account number that is written in groups', async () => {
    const number = `88${Math.trunc(Number(`0x${crypto.randomUUID().slice(0, 8)}`))}`
    const { deps } = depsAt(number)
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    const spaced = ` ${number.slice(0, 4)} ${number.slice(4, 8)}-${number.slice(8)} `

    expect(await found(deps, { payment_destination: spaced })).toMatchObject({ ids: [payment.paymentId] })
  })

  it('finds by the ids of the provider, which is asked, with what is in suspense and why it failed', async () => {
    const { deps } = depsAt()
    const client = await aStoredClient(deps)
    const payment = await aPendingPayment(deps, client)
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId, 1)
    await applyProviderNews(deps, { providerPaymentId }, 'callback')

    for (const asked of [
      { provider_payment_id: providerPaymentId },
      { payment_request_id: payment.paymentRequestId },
    ]) {
      const { status, body } = await invokeAdmin(findPayments, deps, asked)

      expect([status, body]).toMatchObject([
        200,
        {
          data: [
            {
              id: payment.paymentId,
              status: 'failed',
              failure_reason: 'wrong_amount',
              suspense: [{ suspense_id: providerPaymentId, cause: 'wrong_amount', amount_minor: 1 }],
            },
          ],
        },
      ])
      const stranger = await aStoredClient(deps)
      expect((await found(deps, { ...asked, client_id: stranger.clientId })).ids).toStrictEqual([])
    }
    expect((await found(deps, { provider_payment_id: 'py-unknown' })).ids).toStrictEqual([])
  })
})

describe('find-payments by destination', () => {
  it('needs no client: finds every merchant’s payments that showed it, newest first, in pages', async () => {
    const { deps, destination } = depsAt()
    const [one, other] = [await aStoredClient(deps), await aStoredClient(deps)]
    const first = await aPendingPayment(deps, one)
    deps.clock.advance(60)
    const second = await aPendingPayment(deps, other)
    const search = { payment_destination: destination }

    expect(await found(deps, search)).toStrictEqual({
      status: 200,
      ids: [second.paymentId, first.paymentId],
      complete: true,
    })
    expect(await found(deps, { ...search, per_page: 1 })).toMatchObject({ ids: [second.paymentId], complete: false })
    expect(await found(deps, { ...search, per_page: 1, page: 2 })).toMatchObject({ ids: [first.paymentId] })
    expect(await found(deps, { ...search, page: 1_000_000 })).toMatchObject({ ids: [], complete: false })
    expect(await found(deps, { payment_destination: `${destination}0` })).toMatchObject({ ids: [], complete: true })
  })

  it('finds a payment in every later state, and a link longer than a key may be', async () => {
    const { deps, destination } = depsAt(`https://checkout.example/${crypto.randomUUID()}/${'x'.repeat(4_000)}`)
    const client = await aStoredClient(deps)
    const payment = await aPendingPayment(deps, client)
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
    await applyProviderNews(deps, { providerPaymentId }, 'callback')

    const { body } = await invokeAdmin(findPayments, deps, { payment_destination: destination })

    expect(body).toMatchObject({ data: [{ id: payment.paymentId, status: 'succeeded' }] })
  })

  it('finds a payment that was paid before the answer with its destination ever came', async () => {
    const { deps, destination, goDeaf } = depsAt()
    const client = await aStoredClient(deps)
    goDeaf()
    await create(deps, client, undefined, 'key').catch(() => undefined)
    const [paymentRequestId = ''] = deps.provider.requests.keys()
    const providerPaymentId = deps.provider.pay(paymentRequestId)
    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'callback')

    expect(outcome.kind).toBe('applied')
    expect((await found(deps, { payment_destination: destination })).ids).toHaveLength(1)
  })

  it('shows no payment whose destination is another one after all', async () => {
    const { deps, destination } = depsAt()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    const other = `${destination}1`
    await putPointers(deps, { ...payment, paymentDestination: other })

    expect(await found(deps, { payment_destination: destination })).toMatchObject({ ids: [payment.paymentId] })
    expect(await found(deps, { payment_destination: other })).toMatchObject({ ids: [] })
  })

  it.each([{ external_reference: 'order-1' }, undefined])(
    'finds with its client a payment that no index leads to, by %j',
    async (asked) => {
      const { deps, destination } = depsAt()
      const client = await aStoredClient(deps)
      const payment = await aPendingPayment(deps, client, { externalReference: 'order-1' })
      await deps.table.write(update(paymentKey(payment.paymentId), { remove: ['owner'] }, exists))

      const search = { client_id: client.clientId, ...(asked ?? { payment_destination: destination }) }

      expect((await found(deps, search)).ids).toStrictEqual([payment.paymentId])
    },
  )

  it('answers 404 for a client that is not there', async () => {
    const search = { client_id: crypto.randomUUID(), external_reference: 'order-1' }

    expect(await invokeAdmin(findPayments, testDeps(), search)).toMatchObject({ status: 404 })
  })

  it.each([
    [{ external_reference: 'order-1' }, 'external_reference needs client_id: each merchant has its own'],
    [{}, ONE_OF],
    [{ external_reference: 'a', payment_destination: 'b' }, ONE_OF],
    [{ payment_request_id: 'a', provider_payment_id: 'b' }, ONE_OF],
  ])('refuses to guess what %j asks for', async (payload, reason) => {
    expect(await invokeAdmin(findPayments, testDeps(), payload)).toMatchObject({
      status: 422,
      body: { field_errors: { body: expect.arrayContaining([reason]) as unknown } },
    })
  })
})
