import { describe, expect, it } from 'vitest'
import { exists } from '../../../shared/table/condition.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { remove } from '../../../shared/table/step.ts'
import { addMs } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { startRound } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { changeEndpoint, softDeleteEndpoint } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { auditRecordsOf } from '../../support/operator-actions.ts'
import { testDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  drainQueue,
  dueAtOf,
  ENDED,
  owedByItsRow,
  rowOf,
  SKIPPED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'

/** A merchant with a delivery that has ended, and how it asks for it again. */
const aFinished = async (overrides: Partial<Delivery> = ABANDONED, deps = testDeps()) => {
  const { caller } = await anApi({}, deps)
  const endpoint = await storedEndpoint(deps, { clientId: caller.clientId })
  const event = await storedEvent(deps, { clientId: caller.clientId })
  const delivery = await storedDelivery(deps, endpoint, overrides, event)
  const again = (as = deps) => call(as, API.redeliverWebhook, { caller, id: delivery.deliveryId })
  return { deps, caller, endpoint, event, delivery, again }
}

const IN_PROGRESS = {
  message: 'the delivery is in progress',
  code: 'validation',
  action_hint: 'Wait for its remaining attempts.',
}

describe('POST /v1/webhook_deliveries/{id}/redeliver (design section 8)', () => {
  it.each([
    ['abandoned', ABANDONED],
    ['skipped', SKIPPED],
    ['succeeded', { ...ENDED, status: 'succeeded', attempts: 2 }],
  ] as const)('begins a new round of an %s one, and answers the delivery', async (_, overrides) => {
    const { deps, caller, delivery, again } = await aFinished(overrides)

    const answer = await again()
    const fetched = await call(deps, API.getWebhookDelivery, { caller, id: delivery.deliveryId })

    expect(answer.status).toBe(200)
    expect(answer.body).toStrictEqual(fetched.body)
    expect(answer.body).toMatchObject({ id: delivery.deliveryId, status: 'scheduled', next_attempt_at: deps.now() })
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', roundStart: delivery.attempts })
    expect(deps.sent).toMatchObject([{ queue: 'webhooks', message: { body: { attempt: delivery.attempts + 1 } } }])
    const told = { delivery_id: delivery.deliveryId, client_id: caller.clientId }
    expect(deps.lines).toContainEqual({ level: 'info', code: 'delivery.redelivered', fields: told })
    // Records are of operators, and kept for ever.
    expect(await auditRecordsOf(deps, delivery.deliveryId)).toStrictEqual([])
    await drainQueue(deps)
    expect(deps.webhooks.map(({ body }) => body.toString('utf8'))).toStrictEqual([delivery.body])
  })

  it('keeps the event whose bytes it sends, and refuses once that is gone', async () => {
    const lean = testDeps({ stage: { storedRows: 'lean' } })
    const { deps, event, delivery, again } = await aFinished(ABANDONED, lean)
    const kept = await again()
    const gone = await aFinished(ABANDONED, lean)
    await deps.table.write(remove(eventKey(gone.event.paymentId, gone.event.type), exists))

    const answer = await gone.again()

    expect(kept.status).toBe(200)
    expect(await deps.table.get(eventKey(event.paymentId, event.type))).toHaveProperty('ttl')
    expect(delivery).not.toHaveProperty('body')
    expect([answer.status, answer.body]).toStrictEqual([
      422,
      { message: 'the event is no longer kept', code: 'validation' },
    ])
    expect(await rowOf(deps, gone.delivery)).toMatchObject({ status: 'abandoned' })
  })

  it('leaves an alert that is still owed in the due work, beside the new round', async () => {
    const { deps, delivery, again } = await aFinished(ABANDONED)
    await owedByItsRow(deps, delivery)

    expect((await again()).status).toBe(200)

    expect(await dueAtOf(deps, 'alert', delivery.deliveryId)).toBe(deps.now())
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 120_000))
  })

  it('whose message was lost is due work, and asked for again it is in progress', async () => {
    const { deps, delivery, again } = await aFinished()
    const mute = { ...deps, queues: { send: async () => Promise.reject(new Error('no queue')) } }

    const [lost, repeated] = [await again(mute), await again()]

    expect([lost.status, repeated.status]).toStrictEqual([500, 422])
    expect(repeated.body).toStrictEqual(IN_PROGRESS)
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 120_000))
  })

  it('begins one round for several at once, and refuses where another begins between its read and its write', async () => {
    const { deps, delivery, again } = await aFinished()
    const other = await aFinished()
    const racing = beforeFirst(other.deps, 'transact', () =>
      other.deps.table.transact({ theirs: startRound(other.delivery, other.deps.now()) }),
    )

    const answers = await Promise.all([again(), again(), again()])
    const late = await other.again(racing)

    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toStrictEqual([200, 422, 422])
    expect(deps.sent).toHaveLength(1)
    expect([late.status, late.body]).toStrictEqual([422, IN_PROGRESS])
    expect(other.deps.sent).toStrictEqual([])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled' })
  })

  it('refuses while a round is under way', async () => {
    const { deps, delivery, again } = await aFinished({})

    expect((await again()).body).toStrictEqual(IN_PROGRESS)
    expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
  })

  it.each([
    ['disabled', (endpoint: Endpoint) => changeEndpoint(endpoint, { enabled: false })],
    ['deleted', (endpoint: Endpoint) => softDeleteEndpoint(endpoint, endpoint.createdAt)],
  ])('refuses for an endpoint that is %s', async (_, change) => {
    const { deps, endpoint, delivery, again } = await aFinished()
    await deps.table.transact({ endpoint: change(endpoint) })

    const answer = await again()

    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ message: 'the endpoint is disabled', code: 'validation' })
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned' })
    expect(deps.sent).toStrictEqual([])
  })
})
