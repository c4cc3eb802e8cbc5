/**
 * Goal: a dispute reaches the operators before it is lost, and its merchant, whatever its callback
 * looks like and whenever it comes (design section 14). It moves no money.
 */
import { describe, expect } from 'vitest'
import { toPaymentDto } from '../../../shared/payment/payment-dto.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { withoutFloor } from '../../support/settlement-builders.ts'
import {
  creditedPayment,
  expectPayment,
  expire,
  paidUpstream,
  paymentOf,
} from '../../support/synced-payment.ts'
import { beforeCommit } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { syncTest as it } from '../sync/sync-test.ts'
import { CASE, expectCase, inDays, send, tellWhenDue } from './dispute-news.ts'

describe('a dispute of a paid payment', () => {
  // Public reports: gumroad #6793, gumroad #6662, woocommerce-payments #4350.
  it.for([
    ['beside its event', creditedPayment, true, false],
    ['under `data`, before the callback of its capture,', paidUpstream, true, true],
    ['beside its event, before a capture that it does not name,', paidUpstream, false, false],
  ] as const)(
    'whose fields stand %s is a case, told at once, and shown',
    async ([, pay, isOfCapture, isNested], { deps, client }) => {
      await storedEndpoint(deps, {
        clientId: client.clientId,
        eventTypes: ['*', 'payment.disputed'],
      })
      await storedEndpoint(deps, { clientId: client.clientId, eventTypes: ['*'] })
      const paid = await pay(deps, client)
      const answerBy = inDays(deps, 7)
      const payment_id = isOfCapture ? paid.providerPaymentId : null
      const about = { payment_id, reference_id: paid.reference, due_date: answerBy }

      expect(await send(deps, about, undefined, isNested)).toBe('applied')

      const { paymentId } = paid.payment
      await expectCase(deps, {
        kind: 'case',
        cause: 'dispute',
        status: 'open',
        state: 'action_required',
        amountMinor: 100_000,
        paymentId,
        clientId: client.clientId,
        answerBy,
      })
      expect(toPaymentDto(await paymentOf(deps, paid)).dispute).toStrictEqual({
        status: 'action_required',
        amount_minor: 100_000,
        due_at: answerBy,
      })
      expect(deps.published).toMatchObject([{ kind: 'suspense.case', subject: CASE }])
      expect(deps.published[0]?.message).toMatch(
        new RegExp(`of payment ${paymentId} .* until ${answerBy}`),
      )
      const sent = deps.stored
        .items('DELIVERY#')
        .filter(({ event_name: name }) => String(name).startsWith('payment.disputed'))
      expect(sent).toHaveLength(1)
    },
  )

  it.for([
    ['no reference', undefined, paidUpstream],
    ['an empty reference', '', creditedPayment],
    ['a reference of its own', 'DSPT-2026-1', creditedPayment],
    ['an id that no payment has', '1b4e28ba-2fa1-81d2-883f-0016d3cca427-1', creditedPayment],
  ] as const)(
    'with %s and the capture is found by asking, although its money is not shown',
    async ([, reference_id, pay], { deps, client }) => {
      const { payment, providerPaymentId: payment_id } = await pay(deps, client)
      Object.assign(deps.provider.payments.get(payment_id) ?? {}, { status: 'succeeded' })

      await send(deps, { reference_id, payment_id })

      const { paymentId } = payment
      await expectCase(deps, { paymentId })
      expect(deps.published).toMatchObject([{ message: expect.stringContaining(paymentId) }])
    },
  )

  it('of a capture that the provider does not show yet is sent again', async ({ deps, client }) => {
    const { providerPaymentId: payment_id, reference } = await paidUpstream(deps, client)
    deps.provider.silence('getPayment')

    for (const named of [{}, { reference_id: reference }])
      expect(await send(deps, { ...named, payment_id })).toBe('ask_again')

    expect(await findSuspense(deps, CASE)).toBeUndefined()
    const deferred = { code: 'callback.deferred' }
    expect(deps.lines.slice(-2)).toMatchObject([deferred, deferred])
  })
})

const REMINDER = 'due_date_approaching'

describe('later news of a dispute', () => {
  it.for([
    ['the same again', ['action_required', 'action_required'], 'action_required', 1],
    ['an answer, then a win', ['action_required', 'under_review', 'won'], 'won', 2],
    ['a loss', ['action_required', 'lost'], 'lost', 2],
    ['a win before its beginning', ['won', 'action_required', 'under_review'], 'won', 1],
    ['an event that no document names reopens no ended dispute', ['won', 'closed'], 'won', 1, -1],
    ['an event that no document names hides no end after it', ['closed', 'won'], 'won', 2, -1],
    ['an event that no document names opens a new dispute', ['closed'], 'action_required', 1, -1],
    ['a reminder reopens no ended dispute', ['won', REMINDER], 'won', 1, -1],
    ['a reminder reopens no answered dispute', ['under_review', REMINDER], 'under_review', 1, -1],
    ['a reminder hides no answer before it', [REMINDER, 'under_review'], 'under_review', 1, -1],
  ] as const)('%s', async ([, events, state, alerts, lateDay], { deps, credited: paid }) => {
    for (const event of events) {
      const isLate = event === 'closed' || event === REMINDER
      const saidAt = lateDay && inDays(deps, isLate ? lateDay : -2)
      const said = { updated_at: saidAt, due_date: saidAt }
      await send(deps, { reference_id: paid.reference, ...said }, `dispute.${event}`)
    }

    const isEnded = state === 'won' || state === 'lost'
    await expectCase(deps, { state, status: isEnded ? 'resolved' : 'open' })
    await expectPayment(deps, paid, { dispute: { state } })
    expect(deps.published).toHaveLength(alerts)
    if (isEnded) expect(await tellWhenDue(deps)).toBeUndefined()
  })

  it('is in the order of the provider’s clock, where it says the time', async ({
    deps,
    credited: paid,
  }) => {
    const about = { reference_id: paid.reference }
    const [early, late] = [inDays(deps, -2), inDays(deps, -1)]

    await send(deps, { ...about, updated_at: late }, 'dispute.under_review')
    await send(deps, { ...about, updated_at: early }, 'dispute.action_required')
    await expectCase(deps, { state: 'under_review' })

    await send(deps, { ...about, updated_at: deps.now() }, 'dispute.action_required')
    await expectCase(deps, { state: 'action_required' })

    const [updated_at, due_date] = [inDays(deps, 1), inDays(deps, 2)]
    await send(deps, { ...about, updated_at, due_date }, `dispute.${REMINDER}`)
    await expectCase(deps, { state: 'action_required', answerBy: due_date })
  })

  it('an operator closes it: no reminder opens it again, and its end is still told', async ({
    deps,
    credited: { reference: reference_id },
  }) => {
    const news = (event: string, updated_at = deps.now()) =>
      send(deps, { reference_id, updated_at }, `dispute.${event}`)
    await news('action_required')
    const closed = { status: 'resolved', resolution: 'accepted' } as const
    await resolveSuspense(deps, { suspenseId: CASE, operator: 'ana', ...closed })
    expect(await tellWhenDue(deps)).toBeUndefined()
    await news(REMINDER, inDays(deps, 1))
    await expectCase(deps, closed)
    await news('under_review')
    expect(await tellWhenDue(deps)).toBeUndefined()

    await news('lost')

    await expectCase(deps, { ...closed, state: 'lost' })
    expect(deps.published).toMatchObject([{}, { message: expect.stringContaining('is lost') }])
  })

  it('is not closed as money', async ({ deps, client }) => {
    await send(deps, { reference_id: (await creditedPayment(deps, client)).reference })
    const asked = { suspenseId: CASE, operator: 'ana', resolution: 'written_off' } as const

    await expect(resolveSuspense(deps, asked)).rejects.toMatchObject({ code: 'validation' })
  })

  it('two callbacks at once are both kept: the later one is refused once and reads again', async ({
    deps,
    credited: paid,
  }) => {
    const about = { reference_id: paid.reference }
    await send(deps, about)
    const busy = beforeCommit(deps, () => send(deps, about, 'dispute.under_review'))

    await send(busy, about, 'dispute.won')

    await expectCase(deps, { state: 'won', status: 'resolved' })
    const names = deps.stored
      .items('EVENT#')
      .map(({ sk }) => sk)
      .filter((sk) => String(sk).includes(CASE))
    expect(names).toHaveLength(3)
  })
})

describe('a dispute of no paid payment', () => {
  it.for([
    ['unpaid', { amount: null, due_date: null }],
    ['expired', { currency: 'USD' }],
  ] as const)(
    'of an %s one is a case, which its merchant does not see',
    async ([status, about], { deps, client }) => {
      const payment = await aPendingPayment(deps, client)
      const { reference } = deps.provider.requestOf(payment.paymentRequestId)
      if (status === 'expired') await expire(deps, payment)

      await send(deps, { reference_id: reference, ...about })

      await expectCase(deps, { paymentId: payment.paymentId })
      expect(await findSuspense(deps, CASE)).not.toHaveProperty('amountMinor')
      expect(deps.published).toHaveLength(1)
      expect((await paymentOf(deps, { payment })).dispute).toBeUndefined()
    },
  )

  it.for([
    ['the capture of another merchant', true],
    ['other money', false],
  ])(
    'that names %s is a case, which no payment shows',
    async ([, isOther], { deps, credited: paid }) => {
      const { providerPaymentId: payment_id } = isOther
        ? await creditedPayment(deps, await withoutFloor(deps))
        : { providerPaymentId: `py-${crypto.randomUUID()}` }

      await send(deps, { reference_id: paid.reference, payment_id })

      await expectCase(deps, { paymentId: paid.payment.paymentId })
      expect(deps.published).toHaveLength(1)
      expect(deps.stored.items('PAYMENT#').some(({ dispute }) => dispute)).toBe(false)
    },
  )

  it('of a capture that the provider refuses to show is one finding a day', async ({ deps }) => {
    deps.provider.silence('getPayment', 'refused')
    const capture = { reference_id: 'order 17', payment_id: `py-${crypto.randomUUID()}` }

    expect(await send(deps, capture)).not.toBe('ask_again')
    expect(deps.published).toMatchObject([{ kind: 'suspense.finding' }])
  })

  it.for([
    ['a reference of another product', { reference_id: 'order 17' }],
    ['an id that no payment has', { reference_id: '1b4e28ba-2fa1-81d2-883f-0016d3cca427-1' }],
    ['nothing', {}],
  ] as const)('that names %s is one finding a day', async ([, about], { deps }) => {
    await send(deps, about)
    deps.clock.advance(1)
    await send(deps, { ...about, id: 'mi-dspt-another' })
    expect(deps.published).toHaveLength(1)
    deps.clock.advance(86_400)

    await send(deps, about)

    expect(deps.published).toHaveLength(2)
    expect(deps.published[1]).toMatchObject({ kind: 'suspense.finding' })
    expect(await findSuspense(deps, CASE)).toBeUndefined()
  })
})
