import { describe, expect, it } from 'vitest'
import { expiresAfter, RETENTION } from '../../../shared/event/retention.ts'
import { exists } from '../../../shared/table/condition.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { remove } from '../../../shared/table/step.ts'
import { addMs } from '../../../shared/time.ts'
import { listAttempts } from '../../../shared/webhook/delivery/attempt-store.ts'
import { startRound } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import {
  changeEndpoint,
  findEndpointEver,
  moveToGone,
  noteAlert,
} from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { API, call } from '../../support/api-event.ts'
import { aClientId } from '../../support/client-builders.ts'
import { beforeFirst, interceptTable, type TableCall } from '../../support/intercept-table.ts'
import { auditRecordsOf, notFoundReply, OPERATOR } from '../../support/operator-actions.ts'
import { testDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  drainQueue,
  ENDED,
  FAILED,
  listed,
  oweAlert,
  rowOf,
  SKIPPED,
} from '../../support/webhook-builders.ts'
import { ASKING, type Asking, aFinished, redeliver } from './finished-delivery.ts'

describe.each(Object.keys(ASKING) as Asking[])('one delivery sent again %s (design sections 4 and 8)', (by) => {
  const { records, wait, deleted } = ASKING[by]
  const arrange = async (...given: Parameters<typeof aFinished>) => {
    const finished = await aFinished(...given)
    return { ...finished, again: finished[by] }
  }
  const told = { message: 'the delivery is in progress', code: 'validation', action_hint: wait }
  const inProgress = { status: 422, body: told }

  it.each([
    ['abandoned', ABANDONED],
    ['skipped', { ...SKIPPED, attempts: 3 }],
    ['succeeded', { ...ENDED, status: 'succeeded', attempts: 2 }],
  ] as const)('starts a new round of eight on an %s one, with the same id and bytes', async (status, overrides) => {
    const { deps, event, delivery, again } = await arrange(overrides)
    deps.answerWebhooks(async () => FAILED)

    expect(await again()).toMatchObject({ status: 200 })

    const { attempts } = delivery
    const day = { rounds: 1, roundsOn: deps.now().slice(0, 10) }
    const round = { status: 'scheduled', roundStart: attempts, nextAttemptAt: deps.now(), ...day }
    expect(await rowOf(deps, delivery)).toStrictEqual({
      ...listed(delivery),
      ...round,
      dueAt: addMs(deps.now(), 60_000),
    })
    const message = { body: { attempt: attempts + 1 }, delaySeconds: 0 }
    expect(deps.sent).toMatchObject([{ queue: 'webhooks', message }])
    const record = { operator: OPERATOR, action: 'redeliver', before: { status }, after: { status: 'scheduled' } }
    expect(await auditRecordsOf(deps, delivery.deliveryId)).toStrictEqual([record].slice(0, records))
    await drainQueue(deps)
    expect(deps.webhooks).toHaveLength(8)
    expect(new Set(deps.webhooks.map(({ body }) => body.toString('utf8')))).toStrictEqual(new Set([event.body]))
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned', attempts: attempts + 8 })
    expect(await listAttempts(deps, delivery.deliveryId)).toHaveLength(8)
  })

  it('keeps the event whose bytes it sends, and is refused once that is gone', async () => {
    const { deps, event, delivery, again } = await arrange(ABANDONED)
    deps.clock.advance(20 * 86_400)
    const kept = await again()
    const gone = await arrange(ABANDONED)
    gone.deps.clock.advance(20 * 86_400)
    await deps.table.write(remove(eventKey(gone.event.paymentId, gone.event.name), exists))

    const answer = await gone.again()

    expect(kept.status).toBe(200)
    expect(await deps.table.get(eventKey(event.paymentId, event.name))).toHaveProperty(
      'ttl',
      expiresAfter(deps.now(), RETENTION.eventMs),
    )
    expect(delivery).not.toHaveProperty('body')
    const body = { message: 'the event is no longer kept', code: 'validation' }
    expect(answer).toStrictEqual({ status: 422, body })
    expect(await rowOf(deps, gone.delivery)).toMatchObject({ status: 'abandoned' })
  })

  it('tells first of an alert that is still owed', async () => {
    const { deps, delivery, again, dueTimes } = await arrange()
    await oweAlert(deps, delivery)

    expect(await again()).toMatchObject({ status: 200 })

    expect(deps.published).toMatchObject([{ kind: 'delivery.abandoned', subject: delivery.endpointId }])
    expect(await dueTimes()).toStrictEqual({ alert: undefined, delivery: addMs(deps.now(), 60_000) })
  })

  it('begins no round while the topic does not answer', async () => {
    const { deps, delivery, again } = await arrange()
    await oweAlert(deps, delivery)
    const silent = { ...deps, alerts: { publish: async () => Promise.reject(new Error('no topic')) } }

    expect(await again(silent)).toMatchObject({ status: 500 })

    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned' })
  })

  it('fails when others keep telling of the endpoint, and begins no round', async () => {
    const { deps, endpoint, delivery, again } = await arrange()
    await oweAlert(deps, delivery)
    let rounds = 0
    const before = async ({ name }: TableCall) => {
      if (name !== 'update') return
      const now = await findEndpointEver(deps, endpoint.clientId, endpoint.endpointId)
      if (now) await noteAlert(deps, now, addMs(deps.now(), ++rounds))
    }

    expect(await again(interceptTable(deps, { before }))).toMatchObject({ status: 500 })

    expect(deps.published).toStrictEqual([])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned' })
  })

  it('whose message was lost is due work, and asked for again it is in progress', async () => {
    const { deps, again, dueTimes } = await arrange()
    const mute = { ...deps, queues: { send: async () => Promise.reject(new Error('no queue')) } }

    expect(await again(mute)).toMatchObject({ status: 500 })
    expect(await again()).toStrictEqual(inProgress)

    expect(await dueTimes()).toMatchObject({ delivery: addMs(deps.now(), 60_000) })
  })

  it('is refused when another round begins between its read and its write', async () => {
    const { deps, delivery, again } = await arrange()
    const theirs = () => deps.table.transact({ theirs: startRound(delivery, deps.now()) })

    expect(await again(beforeFirst(deps, 'transact', theirs))).toStrictEqual(inProgress)
    expect(deps.sent).toStrictEqual([])
    expect(await auditRecordsOf(deps, delivery.deliveryId)).toStrictEqual([])
  })

  it.each([
    [
      'disabled',
      (endpoint: Endpoint) => ({ endpoint: changeEndpoint(endpoint, { enabled: false }) }),
      'the endpoint is disabled',
    ],
    ['deleted', (endpoint: Endpoint) => moveToGone(endpoint, endpoint.createdAt), deleted],
  ])('is refused for an endpoint that is %s, with a hint', async (_, change, message) => {
    const { deps, endpoint, delivery, again } = await arrange()
    await deps.table.transact<string>(change(endpoint))

    const body = { message, code: 'validation', action_hint: expect.any(String) as unknown }
    expect(await again()).toStrictEqual({ status: 422, body })
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned' })
    expect(deps.sent).toStrictEqual([])
  })
})

it('a merchant is answered its delivery as fetch shows it, which the log says', async () => {
  const { deps, caller, delivery, byMerchant } = await aFinished()
  const { deliveryId: id } = delivery

  const { body } = await byMerchant()

  expect(body).toStrictEqual((await call(deps, API.getWebhookDelivery, { caller, id })).body)
  expect(body).toMatchObject({ id, status: 'scheduled', next_attempt_at: deps.now() })
  const fields = { delivery_id: id, client_id: caller.clientId }
  expect(deps.lines).toContainEqual({ level: 'info', code: 'delivery.redelivered', fields })
})

describe('an operator', () => {
  it('is answered how many are sent, and of what is not the client’s the same 404', async () => {
    const { deps, delivery, caller, byOperator } = await aFinished()

    const answers = [
      await redeliver(deps, aClientId(), { delivery_id: delivery.deliveryId }),
      await redeliver(deps, caller.clientId, { delivery_id: crypto.randomUUID() }),
      await redeliver(deps, caller.clientId, { delivery_id: 'x' }),
    ]

    expect(answers).toStrictEqual(answers.map(() => notFoundReply('delivery')))
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned' })
    expect(await byOperator()).toStrictEqual({ status: 200, body: { count: 1 } })
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
  ])('is refused %s', async (_case, payload, field) => {
    const answer = await redeliver(testDeps(), aClientId(), payload)

    expect(answer).toMatchObject({ status: 422, body: { field_errors: { [field]: expect.any(Array) } } })
  })
})
