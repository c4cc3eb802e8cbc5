import { describe, expect, it } from 'vitest'
import { handler } from '../../../functions/admin/redeliver.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { addMs } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { listAttempts, startRound } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { changeEndpoint, softDeleteEndpoint } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { aClientId } from '../../support/client-builders.ts'
import { beforeFirst, interceptTable, type TableCall } from '../../support/intercept-table.ts'
import { auditRecordsOf, invokeAdmin, notFoundReply, OPERATOR } from '../../support/operator-actions.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  drainQueue,
  dueAtOf,
  dueDelivery,
  ENDED,
  FAILED,
  messageFor,
  owedByItsRow,
  rowOf,
  SKIPPED,
} from '../../support/webhook-builders.ts'

const redeliver = (deps: TestDeps, clientId: ClientId, payload: object) =>
  invokeAdmin(handler, deps, { operator: OPERATOR, client_id: clientId, ...payload })

const arrange = async (overrides: Partial<Delivery> = {}) => {
  const due = await dueDelivery(overrides)
  const { clientId, deliveryId } = due.delivery
  return { ...due, again: (as = due.deps) => redeliver(as, clientId, { delivery_id: deliveryId }) }
}

const dueTimesOf = async (deps: TestDeps, { deliveryId }: Delivery) => ({
  alert: await dueAtOf(deps, 'alert', deliveryId),
  delivery: await dueAtOf(deps, 'delivery', deliveryId),
})

describe('redeliver one delivery (design section 4)', () => {
  it.each([
    ['abandoned', ABANDONED],
    ['skipped', { ...SKIPPED, attempts: 3 }],
    ['succeeded', { ...ENDED, status: 'succeeded', attempts: 2 }],
  ] as const)(
    'starts a new round of eight on an %s one, with the same id, event and bytes',
    async (status, overrides) => {
      const { deps, delivery, again } = await arrange(overrides)
      deps.answerWebhooks(async () => FAILED)

      const answer = await again()

      expect(answer).toStrictEqual({ status: 200, body: { count: 1 } })
      const { attempts } = delivery
      const round = { status: 'scheduled', roundStart: attempts, nextAttemptAt: deps.now() }
      expect(await rowOf(deps, delivery)).toStrictEqual({ ...delivery, ...round, dueAt: addMs(deps.now(), 120_000) })
      expect(deps.sent).toMatchObject([{ message: { body: { attempt: attempts + 1 }, delaySeconds: 0 } }])
      expect(await auditRecordsOf(deps, delivery.deliveryId)).toStrictEqual([
        { operator: OPERATOR, action: 'redeliver', before: { status }, after: { status: 'scheduled' } },
      ])
      await drainQueue(deps)
      expect(deps.webhooks).toHaveLength(8)
      expect(new Set(deps.webhooks.map(({ body }) => body.toString('utf8')))).toStrictEqual(new Set([delivery.body]))
      expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned', attempts: attempts + 8 })
      expect(await listAttempts(deps, delivery.deliveryId)).toHaveLength(8)
    },
  )

  it('leaves an alert that is still owed in the due work, beside the new round', async () => {
    const claimedUntil = testDeps().now()
    const { deps, delivery, again } = await arrange({ attempts: 7, claimToken: 'x', claimedUntil })
    const silent = { ...deps, alerts: { publish: async () => Promise.reject(new Error('no topic')) } }
    await deliverWebhook(silent, messageFor(delivery))

    expect(await again()).toMatchObject({ status: 200 })

    expect(await dueTimesOf(deps, delivery)).toStrictEqual({
      alert: addMs(deps.now(), 60_000),
      delivery: addMs(deps.now(), 120_000),
    })
  })

  it('keeps an alert that the release before owes by its row, too', async () => {
    const { deps, delivery, again } = await arrange(ABANDONED)
    await owedByItsRow(deps, delivery)

    expect(await again()).toMatchObject({ status: 200 })

    expect(await dueTimesOf(deps, delivery)).toStrictEqual({
      alert: deps.now(),
      delivery: addMs(deps.now(), 120_000),
    })
  })

  it('keeps an alert that due work puts off between its read and its write', async () => {
    const { deps, delivery, again } = await arrange(ABANDONED)
    await owedByItsRow(deps, delivery)
    const later = addMs(deps.now(), 60_000)

    const { status } = await again(beforeFirst(deps, 'transact', () => owedByItsRow(deps, delivery, later)))

    expect(status).toBe(200)
    expect(await dueTimesOf(deps, delivery)).toStrictEqual({ alert: later, delivery: addMs(deps.now(), 120_000) })
  })

  it('throws when an alert is put off at each of its tries, and begins no round', async () => {
    const { deps, delivery, again } = await arrange(ABANDONED)
    let puts = 0
    const before = async ({ name }: TableCall) => {
      if (name === 'transact') await owedByItsRow(deps, delivery, addMs(deps.now(), ++puts))
    }
    await owedByItsRow(deps, delivery)

    expect(await again(interceptTable(deps, { before }))).toMatchObject({ status: 500 })

    expect(puts).toBe(4)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned' })
  })

  it('refuses while the delivery is in progress', async () => {
    const { deps, delivery, again } = await arrange({ attempts: 2 })

    expect(await again()).toMatchObject({
      status: 422,
      body: { message: 'the delivery is in progress', code: 'validation', action_hint: expect.any(String) },
    })
    expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
    expect(await auditRecordsOf(deps, delivery.deliveryId)).toStrictEqual([])
  })

  it('starts one round for two operators at once', async () => {
    const { deps, delivery, again } = await arrange(ABANDONED)

    const answers = await Promise.all([again(), again(), again()])

    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toStrictEqual([200, 422, 422])
    expect(deps.sent).toHaveLength(1)
    expect(await auditRecordsOf(deps, delivery.deliveryId)).toHaveLength(1)
  })

  it('refuses when another round starts between its read and its write', async () => {
    const { deps, delivery, again } = await arrange(ABANDONED)
    const racing = beforeFirst(deps, 'transact', () =>
      deps.table.transact({ theirs: startRound(delivery, deps.now()) }),
    )

    const answer = await again(racing)

    expect(answer).toMatchObject({ status: 422, body: { message: 'the delivery is in progress' } })
    expect(deps.sent).toStrictEqual([])
    expect(await auditRecordsOf(deps, delivery.deliveryId)).toStrictEqual([])
  })

  it.each([
    ['disabled', (endpoint: Endpoint) => changeEndpoint(endpoint, { enabled: false }), 'the endpoint is disabled'],
    ['deleted', (endpoint: Endpoint) => softDeleteEndpoint(endpoint, endpoint.createdAt), 'the endpoint is deleted'],
  ])('refuses for an endpoint that is %s, with a hint', async (_case, change, message) => {
    const { deps, endpoint, delivery, again } = await arrange(ABANDONED)
    await deps.table.transact({ endpoint: change(endpoint) })

    expect(await again()).toMatchObject({ status: 422, body: { message, action_hint: expect.any(String) } })
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned' })
    expect(deps.sent).toStrictEqual([])
  })

  it('answers the same 404 for another client, an absent id and a wrong shape', async () => {
    const { deps, endpoint, delivery } = await arrange(ABANDONED)
    const { clientId } = endpoint

    const answers = [
      await redeliver(deps, aClientId(), { delivery_id: delivery.deliveryId }),
      await redeliver(deps, clientId, { delivery_id: crypto.randomUUID() }),
      await redeliver(deps, clientId, { delivery_id: 'x' }),
    ]

    expect(answers).toStrictEqual(answers.map(() => notFoundReply('delivery')))
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned' })
  })

  const AT = '2026-01-01T00:00:00Z'
  const ONE = { delivery_id: crypto.randomUUID() }
  const TO_ENDPOINT = { endpoint_id: crypto.randomUUID() }
  it.each([
    ['nothing to redeliver', {}, 'body'],
    ['a time for one delivery', { ...ONE, since: AT }, 'body'],
    ['no time', TO_ENDPOINT, 'body'],
    ['a time that is none', { ...TO_ENDPOINT, since: '2026-13-01T00:00:00Z' }, 'since'],
    ['a time of another form', { ...TO_ENDPOINT, since: 'yesterday' }, 'since'],
    ['deliveries in progress', { ...TO_ENDPOINT, since: AT, status: 'scheduled' }, 'status'],
    ['one delivery and an endpoint', { ...ONE, ...TO_ENDPOINT }, 'body'],
    ['no operator', { operator: undefined, ...ONE }, 'operator'],
  ])('refuses %s', async (_case, payload, field) => {
    const answer = await redeliver(testDeps(), aClientId(), payload)

    expect(answer).toMatchObject({ status: 422, body: { field_errors: { [field]: expect.any(Array) } } })
  })
})
