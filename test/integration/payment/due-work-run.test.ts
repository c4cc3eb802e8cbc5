/**
 * Goal: all due work is found within a minute, and workers of its kind do it, its owners in turn. Two workers on one
 * slot, a duplicate message or a death do no harm.
 * Method: the real handlers on a table in memory; each test delivers the messages itself.
 */
import { describe, expect, it } from 'vitest'
import { checkDueWork } from '../../../shared/due-work/check-due-work.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { aFlood, idsCancelled, LIFE_S, messagesTo, NOTHING, oneOfEachKind, unpaid, work } from './due-flood.ts'

describe('checkDueWork (design section 4)', () => {
  it('hands each slot to workers of its kind, and they do all of it', async () => {
    const deps = await oneOfEachKind()

    expect(await checkDueWork(deps)).toStrictEqual({ alert: 1, delivery: 1, payment: 1, audit: 0 })
    await work(deps, 'due-payments', 'due-deliveries', 'due-alerts')

    expect(deps.provider.countOf('cancelRequest')).toBe(1)
    expect(deps.published).toHaveLength(1)
    expect(messagesTo(deps, 'webhooks')).toHaveLength(1)
    expect(await checkDueWork(deps)).toStrictEqual(NOTHING)
  })

  it('logs how long the oldest item of each kind has waited', async () => {
    const { deps } = await aFlood(1)
    deps.clock.advance(90)

    await checkDueWork(deps)

    const line = deps.lines.find(({ code }) => code === 'due_work.completed')
    expect(line?.fields).toMatchObject({ payment: 1, payment_late_ms: 90_000, delivery_late_ms: 0 })
  })

  it('divides a large slot among workers, and each item has one worker', async () => {
    const { deps, expired } = await aFlood(230)

    await checkDueWork(deps)
    const shares = messagesTo(deps, 'due-payments').map(({ body }) => body)
    await work(deps, 'due-payments')

    expect(shares).toStrictEqual([0, 1].map((part) => ({ slot: 3, part, parts: 2 })))
    expect(expired()).toBe(230)
    expect(new Set(idsCancelled(deps)).size).toBe(230)
    expect(deps.provider.countOf('cancelRequest')).toBe(230)
  })

  it.each([
    [600, 2],
    [60_000, 4],
  ])(
    'divides a large slot among as many workers as a quota of %d calls a minute allows',
    async (callsPerMinute, parts) => {
      const { deps } = await aFlood(330, callsPerMinute)

      await checkDueWork(deps)

      const shares = messagesTo(deps, 'due-payments').map(({ body }) => body)
      expect(shares).toStrictEqual(Array.from({ length: parts }, (_, part) => ({ slot: 3, part, parts })))
    },
  )

  it('hands out the other kinds when the query of one fails, and then fails itself', async () => {
    const deps = await oneOfEachKind()
    const broken = interceptTable(deps, {
      before: (call) => {
        if ('query' in call && call.query.partition.includes('alert')) throw new Error('no such slot')
      },
    })

    await expect(checkDueWork(broken)).rejects.toThrow('no such slot')

    expect(new Set(deps.sent.map(({ queue }) => queue))).toStrictEqual(new Set(['due-deliveries', 'due-payments']))
  })
})

describe('a worker of a slot', () => {
  it('takes another client’s payment early in a flood of 2,000', async () => {
    const { deps, worker } = await aFlood(2_000)
    const other = await aStoredClient(deps)
    const [payment] = await unpaid(deps, other, 1)
    deps.clock.advance(LIFE_S)

    await worker()

    const asked = idsCancelled(deps)
    expect(asked.slice(0, 16)).toContain(payment?.paymentRequestId)
    // The whole quota of a minute.
    expect(asked).toHaveLength(600)
  })

  it('continues when one item fails, and leaves it due', async () => {
    const { deps, payments, expired, worker } = await aFlood(20)
    const [unlucky] = payments
    deps.provider.script('cancelRequest', async (id, timeoutMs) => {
      if (id === unlucky?.paymentRequestId) throw new Error('something unforeseen')
      return deps.provider.healthy.cancelRequest(id, timeoutMs)
    })

    await worker()

    expect(expired()).toBe(19)
    const drained = deps.lines.find(({ code }) => code === 'due_work.drained')
    expect(drained?.fields).toStrictEqual({ work: 'payment', slot: 3, payment: 19, failed: 1 })
    deps.clock.advance(120)
    expect(await checkDueWork(deps)).toStrictEqual({ ...NOTHING, payment: 1 })
  })

  it('ends after a minute, and the next run hands out the rest', async () => {
    const { deps, expired, worker } = await aFlood(100)
    deps.provider.script('cancelRequest', async (id, timeoutMs) => {
      await deps.sleep(20_000)
      return deps.provider.healthy.cancelRequest(id, timeoutMs)
    })

    await worker()
    const left = 100 - expired()

    expect(left).toBe(100 - 3 * 6)
    expect(await checkDueWork(deps)).toMatchObject({ payment: left })
  })
})
