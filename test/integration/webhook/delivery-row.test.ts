import { describe, expect } from 'vitest'
import { handler as listHandler } from '../../../functions/admin/list-deliveries.ts'
import { itemSize } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { findEventBody } from '../../../shared/event/event-store.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { deliveryKey } from '../../../shared/table/keys.ts'
import { attemptsOf, listAttempts, storeAttemptResult } from '../../../shared/webhook/delivery/attempt-store.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import { claimAttempt, skipDelivery, startRound } from '../../../shared/webhook/delivery/delivery-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { interceptTable, recordTable, type TableCall } from '../../support/intercept-table.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import {
  anEvent,
  attemptOf,
  claimOf,
  drainQueue,
  dueAtOf,
  FAILED,
  messageFor,
  rowOf,
  storedDelivery,
  storedEndpoint,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

const SUCCESS = { error: undefined, httpStatus: 200, responseBody: 'ok' } as const

describe('what a delivery stores', () => {
  it('sends its event’s bytes, and ends with its attempt in one plain write', async ({ deps, event, delivery }) => {
    const { deps: watched, calls } = recordTable(deps)

    await deliverWebhook(watched, messageFor(delivery))

    expect(delivery.body).toBeUndefined()
    expect(deps.webhooks.map(({ body }) => body.toString())).toStrictEqual([event.body])
    expect(calls.map(({ name }) => name)).toStrictEqual(['batchGet', 'get', 'update', 'update'])
    const row = await rowOf(deps, delivery)
    const success = { number: 1, at: deps.now(), durationMs: 12, httpStatus: 200, responseBody: 'ok' }
    expect(row).toMatchObject({ status: 'succeeded', unlisted: true, attempts: 1, success })
    expect(await attemptsOf(deps, row)).toStrictEqual([success])
    expect(await listAttempts(deps, delivery.deliveryId)).toStrictEqual([])
    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
    expect(itemSize(Object(await deps.table.get(deliveryKey(delivery.deliveryId))))).toBeLessThan(1_024)
  })

  it('is listed from its first failure on, and shows all its attempts', async ({ deps, delivery }) => {
    let tried = 0
    deps.answerWebhooks(async () => (++tried === 2 ? { ...FAILED, delivered: true, error: undefined } : FAILED))
    await deliverWebhook(deps, messageFor(delivery))
    expect(await rowOf(deps, delivery)).not.toHaveProperty('unlisted')
    await drainQueue(deps)

    const row = await rowOf(deps, delivery)
    expect([row.status, row.success]).toStrictEqual(['succeeded', undefined])
    expect((await attemptsOf(deps, row)).map(({ error }) => error)).toStrictEqual(['http_status', undefined])
  })

  it('keeps the attempt it holds through a second round', async ({ deps, delivery }) => {
    await deliverWebhook(deps, messageFor(delivery))
    await deps.table.transact({ delivery: startRound(await rowOf(deps, delivery), deps.now()) })

    await deliverWebhook(deps, messageFor(await rowOf(deps, delivery)))

    const row = await rowOf(deps, delivery)
    expect(row).not.toHaveProperty('unlisted')
    expect((await attemptsOf(deps, row)).map(({ number }) => number)).toStrictEqual([1, 2])
  })

  it('knows the write of its success again when its answer was lost', async ({ deps, delivery }) => {
    const claimed = await claimAttempt(deps, delivery, claimOf(deps, 'mine'))
    if (!claimed) throw new Error('not claimed')
    const store = () => storeAttemptResult(deps, claimed, attemptOf(deps, 1, SUCCESS), { status: 'succeeded' })

    expect([await store(), await store()]).toStrictEqual([true, true])
  })

  it.for([
    ['another claim', { claimToken: 'theirs' }, 1],
    ['a later attempt', {}, 2],
  ] as const)('takes no success on %s', async ([, change, number], { deps, delivery }) => {
    const claimed = await claimAttempt(deps, delivery, claimOf(deps, 'mine'))
    if (!claimed) throw new Error('not claimed')

    const attempt = attemptOf(deps, number, SUCCESS)

    expect(await storeAttemptResult(deps, { ...claimed, ...change }, attempt, { status: 'succeeded' })).toBe(false)
    expect(await rowOf(deps, delivery)).toStrictEqual(claimed)
  })

  it('is not claimed, skipped or begun anew once it has succeeded', async ({ deps, delivery }) => {
    await deliverWebhook(deps, messageFor(delivery))
    const ended = await rowOf(deps, delivery)
    const read = { ...delivery, attempts: 1 }

    expect(await claimAttempt(deps, read, claimOf(deps, 'mine'))).toBeUndefined()
    expect(await skipDelivery(deps, read)).toBe(false)
    const round = startRound({ ...ended, status: 'abandoned' }, deps.now())
    expect(await deps.table.transact({ round })).toMatchObject({ applied: false })
    expect(await rowOf(deps, delivery)).toStrictEqual(ended)
  })

  it('ends in one list or none when due work listed it while it was sent', async ({ deps, delivery }) => {
    deps.clock.advance(120)
    deps.answerWebhooks(async () => {
      await checkOverdueDelivery(deps, delivery.deliveryId)
      return { ...FAILED, ...SUCCESS, delivered: true }
    })

    await deliverWebhook(deps, messageFor(delivery))

    const item = Object(await deps.table.get(deliveryKey(delivery.deliveryId)))
    expect([item.status, item.state]).toStrictEqual([undefined, 'succeeded'])
  })

  it('is skipped when its event is gone, with a finding', async ({ deps, endpoint }) => {
    const orphan = await storedDelivery(deps, endpoint, {}, anEvent(deps.now()))
    const { deps: behind, calls } = recordTable(deps)

    await deliverWebhook(behind, messageFor(orphan))

    expect(await rowOf(deps, orphan)).toMatchObject({ status: 'skipped' })
    expect(deps.webhooks).toStrictEqual([])
    // Delivery with endpoint, the body twice (cheaply, and then for certain), the finding, and the delivery.
    expect(calls.map(({ name }) => name).join()).toBe('batchGet,get,get,put,update')
    const found = await findSuspense(deps, `${orphan.eventId}#event_gone`)
    expect(found).toMatchObject({ kind: 'finding', cause: 'event_gone', paymentId: orphan.paymentId, status: 'open' })
  })

  it('has its bytes read once for all of one event, and again when that failed', async ({ deps, event }) => {
    const reads: TableCall[] = []
    const seen = interceptTable(deps, {
      before: (call) => {
        if (reads.push(call) === 1) throw new Error('throttled')
      },
    })
    const find = () => findEventBody(seen, { paymentId: event.paymentId, name: event.name })

    const failures = await Promise.allSettled([find(), find()])
    const bodies = await Promise.all([find(), find()])

    expect(failures.map(({ status }) => status)).toStrictEqual(['rejected', 'rejected'])
    expect([...bodies, await find()]).toStrictEqual([event.body, event.body, event.body])
    expect(reads.map(({ name }) => name)).toStrictEqual(['get', 'get'])
  })

  it('is read with its endpoint, and sent to no other that a message names', async ({ deps, endpoint, delivery }) => {
    const other = await storedEndpoint(deps, { clientId: endpoint.clientId, enabled: false })
    const { deps: watched, calls } = recordTable(deps)
    const message = messageFor(delivery)

    const misled = deliverWebhook(watched, { ...message, endpointId: other.endpointId })
    await expect(misled).rejects.toThrow('a message names the endpoint of its delivery')
    await deliverWebhook(watched, message)

    expect(deps.webhooks.map(({ url }) => url)).toStrictEqual([endpoint.url])
    expect(calls.map(({ name }) => name).join()).toBe('batchGet,batchGet,get,update,update')
  })
})

describe('list-deliveries of listed and unlisted rows', () => {
  it.for(['scheduled', 'succeeded', 'skipped', 'abandoned'] as const)(
    'finds those that are %s',
    async (status, { deps }) => {
      const { clientId } = await aStoredClient(deps)
      const endpoint = await storedEndpoint(deps, { clientId })
      const made = []
      for (const unlisted of [true, undefined, true] as const) {
        for (const is of ['scheduled', 'succeeded', 'skipped', 'abandoned'] as const) {
          deps.clock.advance(1)
          const isListed = is === 'skipped' || is === 'abandoned' || unlisted === undefined
          const delivery = await storedDelivery(deps, endpoint, { status: is, unlisted: isListed ? undefined : true })
          if (is === status) made.unshift(delivery.deliveryId)
        }
      }

      const { body } = await invokeAdmin(listHandler, deps, { client_id: clientId, status, per_page: 2 })

      const data = Reflect.get(body, 'data') as { delivery_id: string }[]
      expect(data.map(({ delivery_id }) => delivery_id)).toStrictEqual(made.slice(0, 2))
    },
  )
})
