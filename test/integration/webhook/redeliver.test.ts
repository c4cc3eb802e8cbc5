import { describe, expect, test } from 'vitest'
import { RETENTION } from '../../../shared/event/event.ts'
import { deliveryKey, eventKey } from '../../../shared/table/keys.ts'
import { addMs, expiresAfter, timestampOf } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { changeEndpoint, markDeleted } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import {
  auditRecordsOf,
  invokeAdmin,
  OPERATOR,
  refusedWith,
} from '../../support/operator-actions.ts'
import { alter, changeRow } from '../../support/tampering.ts'
import { type TestDeps, withoutQueue, withoutTopic } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import {
  ABANDONED,
  attemptRows,
  drainQueue,
  dueAtOf,
  ENDED,
  FAILED,
  listedDelivery,
  makeAlertDue,
  rowOf,
  SKIPPED,
  storedDelivery,
  storedEndpoint,
  storedEvent,
} from '../../support/webhook-builders.ts'

const DAY_SECONDS = 86_400

async function aFinishedDelivery(overrides: Partial<Delivery> = ABANDONED) {
  const { deps, caller } = await anApi()
  const { clientId } = caller
  const endpoint = await storedEndpoint(deps, { clientId })
  const event = await storedEvent(deps, { clientId })
  const delivery = await storedDelivery(deps, endpoint, overrides, event)
  const { deliveryId: id } = delivery
  return {
    deps,
    caller,
    endpoint,
    event,
    delivery,
    byOperator: (callerDeps = deps) =>
      invokeAdmin('redeliver', callerDeps, {
        operator: OPERATOR,
        client_id: clientId,
        delivery_id: id,
      }),
    byMerchant: async (callerDeps = deps) => {
      const { status, body } = await call(callerDeps, API.redeliverWebhook, { caller, id })
      return { status, body }
    },
    row: () => rowOf(deps, delivery),
    ttlOfEvent: async () => (await deps.table.get(eventKey(event.subject, event.name)))?.['ttl'],
  }
}

const DIFFERENCES = {
  byOperator: {
    records: 1,
    answer: { count: 1 },
    deleted: 'the endpoint is deleted',
    unreadable: /^409 No action repairs its row. GET .v1.events has its event for its merchant/,
  },
  byMerchant: {
    records: 0,
    answer: { status: 'scheduled' },
    deleted: 'the endpoint is disabled',
    unreadable: /^500 GET .v1.events has the event of this delivery/,
  },
}

describe.each(['byOperator', 'byMerchant'] as const)(
  'a redelivery %s (design sections 4 and 8)',
  (by) => {
    const { records, answer, deleted, unreadable } = DIFFERENCES[by]
    const arrange = async (overrides?: Partial<Delivery>) => {
      const scene = await aFinishedDelivery(overrides)
      return { ...scene, redeliver: scene[by] }
    }
    const it = testWith(
      () => arrange(),
      'deps',
      'endpoint',
      'event',
      'delivery',
      'redeliver',
      'row',
      'ttlOfEvent',
    )
    const inProgress = refusedWith('the delivery is in progress', {
      action_hint: 'Wait for its remaining attempts.',
    })

    it.each([
      ['abandoned', ABANDONED],
      ['skipped', { ...SKIPPED, attempts: 9_998 }],
      ['succeeded', { ...ENDED, status: 'succeeded', attempts: 2, unlisted: true }],
    ] as const)(
      'of a delivery with status %s starts eight attempts with the same id and bytes',
      async (status, overrides) => {
        const { deps, event, delivery, redeliver, row } = await arrange(overrides)
        deps.answerWebhooks(async () => FAILED)

        expect(await redeliver()).toMatchObject({ status: 200, body: answer })

        const { attempts } = delivery
        expect(await row()).toStrictEqual({
          ...listedDelivery(delivery),
          status: 'scheduled',
          roundStart: attempts,
          nextAttemptAt: deps.now(),
          rounds: 1,
          roundsOn: deps.now().slice(0, 10),
          dueAt: addMs(deps.now(), 60_000),
        })
        const stored = await deps.table.get(deliveryKey(delivery.deliveryId))
        for (const gone of ['state', 'ttl']) expect(stored).not.toHaveProperty(gone)
        const message = { body: { attempt: attempts + 1 }, delaySeconds: 0 }
        expect(deps.sent).toMatchObject([{ queue: 'webhooks', message }])
        const record = {
          operator: OPERATOR,
          action: 'redeliver',
          before: { status },
          after: { status: 'scheduled' },
        }
        expect(await auditRecordsOf(deps, delivery.deliveryId)).toStrictEqual(
          [record].slice(0, records),
        )
        await drainQueue(deps)
        expect(deps.webhooks).toHaveLength(8)
        expect(new Set(deps.webhooks.map(({ body }) => body.toString('utf8')))).toStrictEqual(
          new Set([event.body]),
        )
        expect(await row()).toMatchObject({ status: 'abandoned', attempts: attempts + 8 })
        const numbers = (await attemptRows(deps, delivery)).map(({ number }) => number - attempts)
        expect(numbers).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8])
      },
    )

    it('of a row that cannot be read says what to do', async ({ deps, delivery, redeliver }) => {
      await alter(deps, deliveryKey(delivery.deliveryId), { attempts: 'x' })

      const { status, body } = await redeliver()

      expect(`${status} ${Object(body).action_hint}`).toMatch(unreadable)
    })

    it('extends the event’s retention at most once in 20 days', async ({
      deps,
      event,
      redeliver,
      ttlOfEvent,
    }) => {
      const ttls: unknown[] = []
      for (const days of [19, 1, 19, 2]) {
        deps.clock.advance(days * DAY_SECONDS)
        await redeliver()
        ttls.push(await ttlOfEvent())
        await drainQueue(deps)
      }

      const expiryFrom = (day: number) =>
        expiresAfter(addMs(event.firedAt, day * DAY_SECONDS * 1_000), RETENTION.eventMs)
      expect(ttls).toStrictEqual([0, 20, 20, 41].map(expiryFrom))
    })

    it('first publishes an alert that is still due, or begins no round; of two callers one does', async ({
      deps,
      delivery,
      redeliver,
      row,
    }) => {
      await makeAlertDue(deps, delivery)
      expect(await redeliver(withoutTopic(deps))).toMatchObject({
        status: 429,
        body: { code: 'rate_limit', message: 'no new round can begin now; retry later' },
      })
      const fields = { endpoint_id: delivery.endpointId }
      expect(deps.lines).toContainEqual(expect.objectContaining({ code: 'alert.failed', fields }))
      expect(deps.published).toStrictEqual([])
      expect(await row()).toMatchObject({ status: 'abandoned' })

      const dueAt = addMs(deps.now(), 60_000)
      const answers = await Promise.all([redeliver(), redeliver()])

      expect(answers).toMatchObject([{ status: 200 }, inProgress])
      expect(deps.published).toMatchObject([
        { kind: 'delivery.abandoned', subject: delivery.endpointId },
      ])
      expect(await dueAtOf(deps, 'alert', delivery.deliveryId)).toBeUndefined()
      expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(dueAt)
    })

    it('is refused if the last round of the day began during the publication of the alert', async ({
      deps,
      delivery,
      redeliver,
    }) => {
      await makeAlertDue(deps, delivery)
      const tenthRound = { set: { rounds: 10, roundsOn: deps.now().slice(0, 10) } }
      const publish = () => changeRow(deps, deliveryKey(delivery.deliveryId), tenthRound)

      expect(await redeliver({ ...deps, alerts: { publish } })).toMatchObject({ status: 422 })
    })

    it('is due work if the queue refuses its message; a second redelivery is refused', async ({
      deps,
      delivery,
      redeliver,
    }) => {
      expect(await redeliver(withoutQueue(deps))).toMatchObject({ status: 500 })
      expect(await redeliver()).toStrictEqual(inProgress)

      expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 60_000))
    })

    const HINT = { action_hint: expect.any(String) }
    const expire = ({ clock }: TestDeps) => clock.advance(121 * DAY_SECONDS)
    const disable = ({ table }: TestDeps, endpoint: Endpoint) =>
      table.transact({ endpoint: changeEndpoint(endpoint, { enabled: false }) })
    const remove = ({ table }: TestDeps, endpoint: Endpoint) =>
      table.transact(markDeleted(endpoint, endpoint.createdAt))
    it.for([
      [
        'event has expired, even before the table deletes it',
        expire,
        'the event is no longer kept',
        {},
      ],
      ['endpoint is disabled', disable, 'the endpoint is disabled', HINT],
      ['endpoint is deleted', remove, deleted, HINT],
    ] as const)(
      'is refused when its %s',
      async ([, change, message, details], { deps, endpoint, redeliver, row }) => {
        await change(deps, endpoint)

        expect(await redeliver()).toStrictEqual(refusedWith(message, details))
        expect(await row()).toMatchObject({ status: 'abandoned' })
        expect(deps.sent).toStrictEqual([])
      },
    )

    it('is possible ten times on a UTC day of the fastest clock, and the next day', async ({
      deps,
      redeliver,
      row,
    }) => {
      const [dayBefore, dayAfter] = [-1, 1].map((ms) => timestampOf(Date.UTC(2026, 10, 23) + ms))
      const answers: Awaited<ReturnType<typeof redeliver>>[] = []
      for (const clock of [
        ...Array(5).fill(dayAfter),
        dayBefore,
        ...Array(4).fill(dayAfter),
        dayBefore,
      ]) {
        deps.clock.set(clock)
        answers.push(await redeliver())
        await drainQueue(deps)
      }

      expect(answers.slice(0, 10).map(({ status }) => status)).toStrictEqual(Array(10).fill(200))
      const message = '10 rounds of the delivery began today'
      const body = { message, action_hint: 'Correct the endpoint, and redeliver after 00:00 UTC.' }
      expect(answers[10]).toMatchObject({ status: 422, body })
      expect(await row()).toMatchObject({ status: 'succeeded', rounds: 10, roundsOn: '2026-11-23' })
      deps.clock.set(timestampOf(Date.UTC(2026, 10, 24)))
      expect(await redeliver()).toMatchObject({ status: 200 })
      expect(await row()).toMatchObject({ rounds: 1, roundsOn: '2026-11-24' })
    })
  },
)

test('a merchant’s redelivery waits a minute for its alert, replies like get-webhook-delivery, and writes a log line', async () => {
  const { deps, caller, delivery, byMerchant } = await aFinishedDelivery()
  const { deliveryId: id } = delivery

  await makeAlertDue(deps, delivery)
  const { headers } = await call(withoutTopic(deps), API.redeliverWebhook, { caller, id })
  const { body } = await byMerchant()

  expect(headers).toMatchObject({ 'retry-after': '60' })
  expect(body).toStrictEqual((await call(deps, API.getWebhookDelivery, { caller, id })).body)
  expect(body).toMatchObject({ id, status: 'scheduled', next_attempt_at: deps.now() })
  const fields = { delivery_id: id, client_id: caller.clientId }
  expect(deps.lines).toContainEqual({ level: 'info', code: 'delivery.redelivered', fields })
})
