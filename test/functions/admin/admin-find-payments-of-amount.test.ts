import { describe, expect, it } from 'vitest'
import { handler as findPayments } from '../../../functions/admin/find-payments.ts'
import { minor } from '../../../shared/money.ts'
import { timestampOf } from '../../../shared/time.ts'
import { grown } from '../../integration/parts/grown-client.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

type Found = {
  readonly data: readonly { readonly id: string }[]
  readonly complete: boolean
  readonly cursor?: string
}

const found = async (deps: TestDeps, payload: object) => {
  const { body } = await invokeAdmin(findPayments, deps, payload)
  const { data, complete, cursor } = body as Found
  return { ids: data.map(({ id }) => id), complete, cursor }
}

/** Of the 22nd in Jakarta, an hour after its midnight. */
const MORNING = timestampOf(Date.parse('2026-11-21T18:00:00Z'))

describe('find-payments by amount and day', () => {
  it('finds what a merchant made on a day of Jakarta, newest first, of a status and method where they are given', async () => {
    const deps = testDeps()
    const client = await grown(deps, await aStoredClient(deps), 2)
    const at = async (time: string, notionalMinor = 70_000, method?: 'qris') => {
      deps.clock.set(timestampOf(Date.parse(time)))
      const fields = { notionalMinor: minor(notionalMinor), ...(method && { method, channelCode: 'QRIS' }) }
      return (await aPendingPayment(deps, client, fields)).paymentId
    }
    await at('2026-11-21T16:59:59.999Z')
    const first = await at('2026-11-21T17:00:00.000Z')
    await at('2026-11-22T03:00:00.000Z', 70_001)
    const qris = await at('2026-11-22T04:00:00.000Z', 70_000, 'qris')
    const last = await at('2026-11-22T16:59:59.999Z')
    await at('2026-11-22T17:00:00.000Z')
    const search = { client_id: client.clientId, amount_minor: 70_000, day: '2026-11-22' }

    expect(await found(deps, search)).toStrictEqual({ ids: [last, qris, first], complete: true, cursor: undefined })
    expect((await found(deps, { ...search, method: 'qris' })).ids).toStrictEqual([qris])
    expect((await found(deps, { ...search, status: 'pending' })).ids).toHaveLength(3)
    expect((await found(deps, { ...search, status: 'failed' })).ids).toStrictEqual([])
    const stranger = await aStoredClient(deps)
    expect((await found(deps, { ...search, client_id: stranger.clientId })).ids).toStrictEqual([])
  })

  it('shows a hundred or so at a time, and each of them once', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.clock.set(MORNING)
    const made = new Set<string>()
    for (let at = 0; at < 130; at++) made.add((await aPendingPayment(deps, client)).paymentId)
    const search = { client_id: client.clientId, amount_minor: 100_000, day: '2026-11-22' }

    const first = await found(deps, search)
    const rest = await found(deps, { ...search, cursor: first.cursor })

    expect([first.complete, rest.complete]).toStrictEqual([false, true])
    expect([first.ids.length, rest.ids.length]).toStrictEqual([100, 30])
    expect(new Set([...first.ids, ...rest.ids])).toStrictEqual(made)
  })

  it.each([
    [{ amount_minor: 1 }, 'amount_minor needs client_id and day, the day the payment was made in Jakarta'],
    [{ payment_destination: '1', day: '2026-11-22' }, 'day, status, method, cursor go with amount_minor'],
  ])('refuses %j and says what is missing', async (payload, reason) => {
    expect(await invokeAdmin(findPayments, testDeps(), payload)).toMatchObject({
      status: 422,
      body: { field_errors: { body: [reason] } },
    })
  })

  it('refuses a day that is none and a cursor of another list', async () => {
    const deps = testDeps()
    const { clientId } = await aStoredClient(deps)
    const search = { client_id: clientId, amount_minor: 1, day: '2026-11-22' }

    expect(await invokeAdmin(findPayments, deps, { ...search, day: '2026-11-31' })).toMatchObject({ status: 422 })
    expect(await invokeAdmin(findPayments, deps, { ...search, cursor: 'x' })).toMatchObject({
      status: 422,
      body: { message: 'cursor must be the cursor of an earlier find-payments answer' },
    })
    expect(await invokeAdmin(findPayments, deps, { ...search, client_id: crypto.randomUUID() })).toMatchObject({
      status: 404,
    })
  })
})
