import { describe, expect, it } from 'vitest'
import { rememberCapture } from '../../../shared/payment/creating-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import {
  callsOfCheck,
  checkDuePayment,
  isLateUsualCheck,
  skipUsualCheck,
} from '../../../shared/payment/news/check-due-payment.ts'
import type { PaymentRequest } from '../../../shared/payment/payment.ts'
import {
  claimCheck,
  endCheck,
  findStoredPayment,
  markDueNow,
  recordCancelRequest,
} from '../../../shared/payment/payment-store.ts'
import type { Provider } from '../../../shared/provider/provider.ts'
import { recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import type { Item } from '../../../shared/table/attributes.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { someHeldMoney } from '../../support/money-rows.ts'
import { aCreating, loseAnswer, OVO_REQUEST, payFirst } from '../../support/payment-builders.ts'
import { expectSuspense, findingAbout } from '../../support/synced-payment.ts'
import { memoryDeps, recordTable, writtenKeys } from '../../support/test-deps.ts'
import { aCreate, aScene } from './payment-test.ts'

const DANA = { method: 'ewallet', channelCode: 'DANA' } as const
const GOPAY = { method: 'ewallet', channelCode: 'GOPAY' } as const
const QRIS = { method: 'qris', channelCode: undefined } as const

async function aPendingScene(fields: Partial<PaymentRequest> = {}) {
  const { deps: recorded, calls } = recordTable(memoryDeps())
  recorded.provider.before('createRequest', () => recorded.clock.advance(1))
  const scene = await aScene(fields, recorded)
  return {
    ...scene,
    callsAndWrites: () =>
      [
        recorded.provider.calls.length,
        writtenKeys(calls).filter(({ sk }) => sk === 'PAYMENT').length,
      ] as const,
  }
}

it('a payment whose money was given back before a restore expires', async () => {
  const { deps, payment, pay, check, reread, event } = await aPendingScene(QRIS)
  const money = someHeldMoney(deps, pay(), payment.notionalMinor)
  const givenBack = { status: 'resolved', resolution: 'refunded_by_bank' } as const
  await recordSuspense(deps, { ...money, ...givenBack })

  await check()

  expect(await reread()).toMatchObject({ status: 'expired' })
  expect(await event('payment.expired')).toMatchObject({ entity: 'event' })
})

it('money that was held before a restore ends when a create without an answer is credited', async () => {
  const { deps, client } = await aCreate()
  await loseAnswer(deps, client)
  const capture = payFirst(deps)
  await recordSuspense(deps, someHeldMoney(deps, capture.providerPaymentId, 100_000))

  await applyProviderNews(deps, capture, 'due_work')

  await expectSuspense(deps, capture.providerPaymentId, {
    status: 'resolved',
    resolution: 'credited',
  })
})

it('the due work of a create that remembers no capture ends with its first check', async () => {
  const deps = memoryDeps()
  const { creating } = await aCreating({ dueAt: deps.now() }, deps)
  const item = () => deps.table.get(paymentKey(creating.paymentId))

  expect(await checkDuePayment(deps, await item())).toBe('checked')

  expect(await item()).not.toHaveProperty('dueAt')
})

it.each([
  // The provider has closed the request itself: it refuses the cancel as inactive, and only then
  // the check reads the request.
  ['a virtual account', {}, ['2026-11-21T04:00:00.000Z'], 2, 2],
  ['a QRIS', QRIS, ['2026-11-22T04:00:00.000Z'], 2, 2],
  [
    'a QRIS with an expiry of a minute',
    { ...QRIS, expiresInSeconds: 60 },
    ['2026-11-20T04:01:00.000Z'],
    1,
    2,
  ],
  ['a wallet', GOPAY, ['2026-11-20T04:30:00.000Z'], 2, 2],
  [
    'a wallet with an expiry of a day',
    DANA,
    ['2026-11-20T04:15:00.000Z', '2026-11-21T04:00:00.000Z'],
    3,
    3,
  ],
  ['an OVO push, one minute after its expiry', OVO_REQUEST, ['2026-11-20T04:01:55.000Z'], 2, 2],
])(
  '%s that stays unpaid has these checks, provider calls (section 9: at most 3) and writes',
  async (_, fields, dueTimes, calls, writes) => {
    const { deps, request, check, reread, item, ledger, callsAndWrites } =
      await aPendingScene(fields)
    const [callsBefore, writesBefore] = callsAndWrites()
    const checkedAt = []

    while ((await reread()).status === 'pending' && checkedAt.length < 9) {
      const { dueAt = deps.now() } = await reread()
      checkedAt.push(dueAt)
      if (callsOfCheck((await item()) ?? {}, dueAt).length > 1) request({ status: 'expired' })
      await check()
    }

    expect(checkedAt).toStrictEqual(dueTimes)
    expect(callsAndWrites()).toStrictEqual([callsBefore + calls, writesBefore + writes])
    expect(await reread()).toMatchObject({ status: 'expired', expiryStartedAt: deps.now() })
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, expired: 1 })
    expect(deps.lines.filter(({ level }) => level !== 'info')).toStrictEqual([])
  },
)

describe('checkDuePayment: our own expiry', () => {
  it.each([
    ['cannot cancel a request that is not final', 'not_cancellable', undefined],
    ['does not know the request, with a finding', 'not_found', 'not_found_upstream'],
  ] as const)('expires when the provider %s', async (_, kind, cause) => {
    const { deps, payment, check, reread } = await aPendingScene(QRIS)
    deps.provider.answer('cancelRequest', { kind })

    await check()

    expect(await reread()).toMatchObject({ status: 'expired' })
    expect((await findingAbout(deps, payment.paymentId, 'not_found_upstream'))?.cause).toBe(cause)
  })

  it.each([
    ['credits the payment when the provider answers again', 60, 'succeeded'],
    ['begins after an hour without an answer', 3_600, 'expired'],
  ])('waits for an answer about an announced capture: it %s', async (_, seconds, status) => {
    const { deps, payment, check, request, reread, item } = await aPendingScene({
      ...QRIS,
      expiresInSeconds: 60,
    })
    const { paymentId, notionalMinor: capturedMinor } = payment
    const capture = {
      providerPaymentId: 'py-1',
      paymentRequestId: 'pr-1',
      reference: `${paymentId}-1`,
      capturedMinor,
    }
    await deps.table.write(
      update(paymentKey(paymentId), { add: { rememberedProviderPaymentIds: new Set(['py-1']) } }),
    )
    request({ status: 'expired' })
    expect(callsOfCheck((await item()) ?? {}, deps.now())).toContain('getPayment')
    deps.provider.silence('getPayment', 'server_error')
    expect([await check(), (await reread()).status]).toStrictEqual(['unanswered', 'pending'])
    deps.clock.advance(seconds)
    deps.provider.payments.set('py-1', { ...capture, currency: 'IDR', status: 'captured' })
    if (status === 'succeeded') deps.provider.heal('getPayment')

    await check()

    expect(await reread()).toMatchObject({ status })
  })

  it('does not start when a cancel was stored after the read', async () => {
    const { deps, payment, item, reread } = await aPendingScene(QRIS)
    deps.clock.set(payment.expiresAt ?? deps.now())
    const itemBefore = await item()
    await recordCancelRequest(deps, payment.paymentId, deps.now(), payment.dueAt ?? deps.now())

    expect(await checkDuePayment(deps, itemBefore)).toBe('not_claimed')

    expect(await reread()).not.toHaveProperty('expiryStartedAt')
    expect(deps.provider.countOf('cancelRequest')).toBe(0)
  })
})

describe('checkDuePayment: claims and refusals', () => {
  it.each([
    ['is not due yet', (item: Item) => item],
    ['is missing', () => undefined],
    ['was claimed by another worker', (item) => ({ ...item, dueAt: '2026-11-20T03:00:00.000Z' })],
  ])('makes no call for a payment that %s', async (_, alter) => {
    const { deps, payment, item, reread } = await aPendingScene()

    expect(await checkDuePayment(deps, alter((await item()) ?? {}))).toBe('not_claimed')

    expect(deps.provider.countOf('getRequest')).toBe(0)
    expect(await reread()).toEqual(payment)
  })

  it.each<[string, earlySeconds: number, answer: Provider['getRequest']]>([
    [
      'the provider does not answer',
      0,
      async () => ({ kind: 'unanswered', reason: 'unreachable' }),
    ],
    ['the check fails', 0, () => Promise.reject(new Error('something unforeseen'))],
    ['the process of a callback dies during the call', 60, () => new Promise(() => undefined)],
  ])('is due again in two minutes, not at the expiry, when %s', async (_, earlySeconds, answer) => {
    const { deps, payment, check, reread } = await aPendingScene(DANA)
    const dueAt = addMs(payment.dueAt ?? deps.now(), -earlySeconds * 1_000)
    await markDueNow(deps, payment.paymentId, dueAt)
    deps.provider.script('getRequest', answer)

    check().catch(() => undefined)

    await expect.poll(reread).toMatchObject({ dueAt: addMs(dueAt, 2 * MINUTE_MS) })
  })

  it('does not overwrite a due time that was set after the claim', async () => {
    const { deps, payment, reread } = await aPendingScene()
    const { paymentId, dueAt = deps.now() } = payment
    await claimCheck(deps, { paymentId, dueAt }, { nextDueAt: addMs(dueAt, 1) })
    await markDueNow(deps, paymentId, deps.now())

    expect((await endCheck(deps, payment, addMs(dueAt, 1), addMs(dueAt, 60_000))).applied).toBe(
      false,
    )
    expect(await reread()).toMatchObject({ dueAt: deps.now() })
  })

  it('is late after two minutes if it asks a wallet; a skip does not overwrite a new due time', async () => {
    const { deps, payment, item, reread } = await aPendingScene(DANA)
    const itemBefore = (await item()) ?? {}
    const { creating } = await aCreating({ dueAt: payment.dueAt }, deps)
    const creatingItem = (await deps.table.get(paymentKey(creating.paymentId))) ?? {}
    const isLate = (dueItem: Item, ms: number) =>
      isLateUsualCheck(dueItem, addMs(payment.dueAt ?? deps.now(), 2 * MINUTE_MS + ms))
    expect([isLate(itemBefore, 0), isLate(itemBefore, 1), isLate(creatingItem, 1)]).toStrictEqual([
      false,
      true,
      false,
    ])
    await markDueNow(deps, payment.paymentId, deps.now())

    expect(await skipUsualCheck(deps, itemBefore)).toBe('not_claimed')
    expect(await reread()).toMatchObject({ dueAt: deps.now() })
  })
})

it('endCheck changes only payments that have the status that was read and no newer capture', async () => {
  const { deps, payment, reread } = await aScene()
  const { creating, deps: creatingDeps } = await aCreating()
  const { paymentId } = creating
  const startedAt = creatingDeps.now()
  await rememberCapture(creatingDeps, creating, 'py-1', startedAt)

  const pending = { ...creating, status: 'pending' } as const
  const scheduled = await endCheck(creatingDeps, pending, startedAt, addMs(startedAt, 1))
  const ended = await endCheck(
    deps,
    { ...payment, status: 'creating' },
    payment.dueAt ?? deps.now(),
  )
  await rememberCapture(creatingDeps, creating, 'py-2', addMs(startedAt, 2))
  const endedLate = await endCheck(creatingDeps, creating, startedAt)

  expect([scheduled.applied, ended.applied, endedLate.applied]).toStrictEqual([false, false, false])
  expect(await findStoredPayment(creatingDeps, paymentId)).toEqual({
    ...creating,
    rememberedProviderPaymentIds: new Set(['py-1', 'py-2']),
    dueAt: addMs(startedAt, 2),
  })
  expect(await reread()).toEqual(payment)
})
