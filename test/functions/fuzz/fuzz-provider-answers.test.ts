/**
 * Goal: no answer of the provider or of a proxy makes a handler throw or credit too much. A credit needs a capture of the
 * amount, and an end needs a final status of the payment's own request. Method: the real adapter and handlers on a
 * network with arbitrary answers, mostly almost valid. The test derives the allowed outcomes from the answers.
 */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { handler as refreshPayment } from '../../../functions/admin/refresh-payment.ts'
import { handler as checkDuePayments } from '../../../functions/queue/check-due-payments.ts'
import { handler as checkDueWork } from '../../../functions/schedule/check-due-work.ts'
import { handler as syncProviderTransactions } from '../../../functions/schedule/sync-provider-transactions.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { API, anApiClient, aPaymentBody, CALLBACK, call, SEND_AGAIN } from '../../support/api-event.ts'
import { filledIn } from '../../support/hostile-values.ts'
import { type MemoryDeps, memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { anOpenPayment } from '../../support/paid-builders.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { problemsOf } from '../../support/recount/invariants.ts'
import { runs } from '../../support/runs.ts'
import {
  type Answered,
  anyOutcome,
  CALLBACK_TOKEN,
  hostileNetwork,
  isFinalEnd,
  isFullCapture,
  isWrongCapture,
  type Outcomes,
  SEEN_NOTHING,
} from './hostile-provider.ts'

const RUNS = { numRuns: runs(50) }

const some = (kind: keyof Outcomes) => fc.array(anyOutcome(kind), { minLength: 1, maxLength: 3 })
const kinds = ['request', 'payment', 'cancel', 'transactions'] as const
const anyOutcomes = fc.record(Object.fromEntries(kinds.map((kind) => [kind, some(kind)])))

/** A payment at a network that answers with these outcomes, about this payment by its ids. */
const arrange = async (make: typeof aPendingPayment, outcomes: Outcomes) => {
  const deps = memoryDeps()
  const caller = await anApiClient(deps)
  const payment = await make(deps, caller)
  const { paymentId, paymentRequestId: $request, creditedProviderPaymentId: $payment = 'py-1' } = payment
  const names = { $request, $reference: `${paymentId}-1`, $payment }
  const { provider, said } = hostileNetwork(deps, filledIn(outcomes, names) as Outcomes)
  const stored = () => findStoredPayment(deps, paymentId)
  return { deps: { ...deps, provider: provider as MemoryDeps['provider'] }, caller, payment, said, stored }
}

type Scene = Pick<Awaited<ReturnType<typeof arrange>>, 'deps' | 'caller' | 'payment'>

/** Runs check-due-work after this time, and the payment checks that it sends. None may fail. */
const dueWorkAfter =
  (seconds: number) =>
  async ({ deps }: Scene) => {
    deps.clock.advance(seconds)
    await checkDueWork.withDeps(deps)({}, {} as never)
    const messages = deps.sent.splice(0).filter(({ queue }) => queue === 'due-payments')
    const Records = messages.map(({ message }) => ({ messageId: 'm', body: JSON.stringify(message.body) }))
    const { batchItemFailures } = await checkDuePayments.withDeps(deps)({ Records } as never, {} as never)
    const failed = deps.lines.filter(({ level, code }) => level === 'error' && code === 'payment.check_failed')
    expect([batchItemFailures, failed]).toStrictEqual([[], []])
  }

/** Everything that makes the gateway ask the provider. Each checks its own reply. */
const TRIGGERS = {
  callback: async ({ deps, payment }: Scene) => {
    const data = { payment_id: 'py-1', payment_request_id: payment.paymentRequestId, reference_id: 'any' }
    const body = { event: 'payment.capture', data }
    const headers = { 'x-callback-token': CALLBACK_TOKEN }
    const answer = await call(deps, CALLBACK, { body, headers })
    // 503 when the provider has refused further calls for now.
    if (answer.status !== 503 && answer.status !== 200) {
      expect([answer.status, answer.body]).toStrictEqual([500, SEND_AGAIN])
    }
  },
  cancel: async ({ deps, caller, payment }: Scene) => {
    const { status } = await call(deps, API.cancelPayment, { caller, id: payment.paymentId })
    expect([200, 422, 502]).toContain(status)
  },
  refresh: async ({ deps, payment }: Scene) => {
    const { status } = await invokeAdmin(refreshPayment, deps, { operator: 'ayu', payment_id: payment.paymentId })
    expect([200, 502]).toContain(status)
  },
  'due work': dueWorkAfter(300),
  'due work after the expiry': dueWorkAfter(86_401),
  sync: async ({ deps }: Scene) => {
    expect(await syncProviderTransactions.withDeps(deps)({}, {} as never)).toHaveProperty('complete')
  },
} as const
type Trigger = keyof typeof TRIGGERS

/** With these triggers our own cancel may end the payment too. */
const ENDS_BY_US: readonly Trigger[] = ['cancel', 'due work after the expiry']

const wasSaid = (said: readonly Answered[], { paymentId, paymentRequestId }: Payment, trigger: Trigger) => {
  const about = { paymentId, paymentRequestId, amount: 100_000 }
  return {
    captured: said.some((answer) => isFullCapture(answer, about)),
    ended: said.some((answer) => isFinalEnd(answer, about)) || ENDS_BY_US.includes(trigger),
    wrong: said.some((answer) => isWrongCapture(answer, about)),
  }
}

const expectBooks = ({ stored }: MemoryDeps) => expect(problemsOf(stored.items(), SEEN_NOTHING)).toStrictEqual([])

it.each(Object.keys(TRIGGERS) as Trigger[])(
  '%s ends a pending payment only as the answers of the provider allow',
  async (trigger) => {
    await fc.assert(
      fc.asyncProperty(anyOutcomes, async (outcomes) => {
        const scene = await arrange(aPendingPayment, outcomes)
        const { deps, payment, said, stored } = scene

        await TRIGGERS[trigger](scene)

        const after = await stored()
        const { captured, ended, wrong } = wasSaid(said, payment, trigger)
        if (after?.status === 'succeeded') expect(captured).toBe(true)
        else if (after?.status === 'failed') expect(ended || wrong).toBe(true)
        else if (after?.status !== 'pending') expect(ended).toBe(true)
        expectBooks(deps)
        expect(deps.lines.filter(({ code }) => code === 'request.failed' && trigger !== 'cancel')).toStrictEqual([])
      }),
      RUNS,
    )
  },
)

it('the books of a succeeded payment add up after any transactions, and its fee is assumed only when its money went back', async () => {
  await fc.assert(
    fc.asyncProperty(anyOutcomes, async (outcomes) => {
      const { deps, stored } = await arrange(anOpenPayment, outcomes)

      await syncProviderTransactions.withDeps(deps)({}, {} as never)

      const after = await stored()
      if (after?.status !== 'succeeded') throw new Error('the payment is no longer succeeded')
      // Its own reversed row ends an open payment with the fee of the estimate.
      if (after.feeStatus === 'assumed') expect(['voided', 'reversed']).toContain(after.reversal?.kind)
      expectBooks(deps)
    }),
    RUNS,
  )
})

it('POST /v1/payments shows a payment only with the provider’s destination, and otherwise says that the provider failed', async () => {
  await fc.assert(
    fc.asyncProperty(anyOutcome('create'), anyOutcomes, async (outcome, outcomes) => {
      const deps = memoryDeps()
      const caller = await anApiClient(deps)
      const { provider, said } = hostileNetwork(deps, { ...outcomes, create: [outcome] })

      const { status, body } = await call({ ...deps, provider }, API.createPayment, { caller, body: aPaymentBody() })

      expect([201, 500]).toContain(status)
      if (status === 201) expect(JSON.stringify(said)).toContain(body['payment_destination'])
      else expect(body['message']).toMatch(/^the provider /)
      expectBooks(deps)
    }),
    RUNS,
  )
})
