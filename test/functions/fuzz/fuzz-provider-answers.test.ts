/**
 * Goal: no answer of the provider or of a proxy makes a handler throw or credit too much. A payment
 * succeeds only with a capture of its amount, and ends otherwise only with a final status of its
 * request. Method: the real adapter and handlers get random, mostly nearly valid answers. The test
 * derives the allowed outcomes from the answers.
 */
import * as fc from 'fast-check'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { handler as checkDuePayments } from '../../../functions/queue/check-due-payments.ts'
import { handler as checkDueWork } from '../../../functions/schedule/check-due-work.ts'
import { handler as syncProviderTransactions } from '../../../functions/schedule/sync-provider-transactions.ts'
import { ifValid } from '../../../shared/if-valid.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import type { HttpCall } from '../../../shared/provider/call-json.ts'
import { xenditProvider } from '../../../shared/provider/xendit/xendit-provider.ts'
import { providerSecretName } from '../../../shared/secrets.ts'
import { API, anApiClient, aPaymentBody, call, sendCapture } from '../../support/api-event.ts'
import { fillIn } from '../../support/hostile-values.ts'
import { handOver, invokeAdmin } from '../../support/operator-actions.ts'
import { anOpenPayment } from '../../support/paid-builders.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { moneyProblemsOf } from '../../support/recount/invariants.ts'
import { runs } from '../../support/runs.ts'
import { PROVIDER_SECRET } from '../../support/scripted-provider.ts'
import { type MemoryDeps, memoryDeps } from '../../support/test-deps.ts'
import { anyOutcomes, type Kind, kindOf, type Outcomes } from './hostile-provider.ts'

const RUNS = { numRuns: runs(20) }

type Answered = { readonly kind: Kind; readonly status: number; readonly json: unknown }

async function arrange(outcomes: Outcomes, make: typeof aPendingPayment = aPendingPayment) {
  const own = memoryDeps()
  own.secretValues.set(providerSecretName('test'), PROVIDER_SECRET)

  const caller = await anApiClient(own)
  const payment = await make(own, caller)
  const { paymentId, paymentRequestId: $request, capture } = payment
  const $payment = capture?.providerPaymentId ?? 'py-1'
  const plan = fillIn(outcomes, { $request, $reference: `${paymentId}-1`, $payment }) as Outcomes
  const answers: Answered[] = []
  const calls: Kind[] = []
  const respond = async (request: HttpCall) => {
    const kind = kindOf(request)
    // The time passes so fast that the sync reaches its time limit, even with endless pages.
    if (kind === 'transactions') own.clock.advance(20)
    const position = calls.filter((earlier) => earlier === kind).length % plan[kind].length
    calls.push(kind)
    const outcome = plan[kind][position] ?? { kind: 'lost', reason: 'timeout' }
    if (outcome.kind === 'answered') answers.push({ ...outcome, kind })
    return outcome
  }
  const { secrets } = own
  const options = {
    baseUrl: 'https://provider.example',
    stage: 'test',
    secrets,
    nowMs: Date.now,
    call: respond,
  }
  const deps = { ...own, provider: xenditProvider(options) as MemoryDeps['provider'] }
  const stored = () => findStoredPayment(deps, paymentId)
  const expectBooks = () => expect(moneyProblemsOf(own.stored.items())).toStrictEqual([])
  return { deps, caller, payment, answers, stored, expectBooks }
}

type Scene = Pick<Awaited<ReturnType<typeof arrange>>, 'deps' | 'caller' | 'payment'>

/** No payment check may fail. */
function dueWorkAfter(seconds: number) {
  return async ({ deps }: Scene) => {
    deps.clock.advance(seconds)
    await checkDueWork.withDeps(deps)({}, {} as never)
    const messages = deps.sent.splice(0).filter(({ queue }) => queue === 'due-payments')
    const bodies = messages.map(({ message }) => message.body)
    const { batchItemFailures } = await handOver(checkDuePayments, deps, bodies)
    const failed = deps.lines.filter(
      ({ level, code }) => level === 'error' && code === 'payment.check_failed',
    )
    expect([batchItemFailures, failed]).toStrictEqual([[], []])
  }
}

const TRIGGERS = Object.entries({
  callback: async ({ deps, payment: { paymentRequestId } }: Scene) => {
    const data = { payment_id: 'py-1', payment_request_id: paymentRequestId, reference_id: 'any' }
    const answer = await sendCapture(deps, data)

    // 503: the provider has refused further calls for now.
    if (answer.status !== 503 && answer.status !== 200) {
      const sendAgain = { message: 'not applied yet; send it again', code: 'internal_error' }
      expect([answer.status, answer.body]).toStrictEqual([500, sendAgain])
    }
  },
  cancel: async ({ deps, caller, payment: { paymentId: id } }: Scene) => {
    expect([200, 422, 502]).toContain((await call(deps, API.cancelPayment, { caller, id })).status)
  },
  refresh: async ({ deps, payment: { paymentId } }: Scene) => {
    const { status } = await invokeAdmin('refresh-payment', deps, {
      operator: 'ayu',
      payment_id: paymentId,
    })
    expect([200, 502]).toContain(status)
  },
  'due work': dueWorkAfter(300),
  'due work after the expiry': dueWorkAfter(86_401),
  sync: async ({ deps }: Scene) => {
    expect(await syncProviderTransactions.withDeps(deps)({}, {} as never)).toHaveProperty(
      'complete',
    )
  },
})

const Amount = v.pipe(v.union([v.number(), v.string()]), v.toNumber())
const Capture = v.pipe(
  v.object({
    status: v.literal('SUCCEEDED'),
    captures: v.pipe(v.array(v.object({ capture_amount: Amount })), v.nonEmpty()),
  }),
  v.transform(({ captures }) =>
    captures.reduce((sum, { capture_amount: amount }) => sum + amount, 0),
  ),
)
const OwnRow = v.pipe(
  v.object({ type: v.literal('PAYMENT'), status: v.literal('SUCCESS'), amount: Amount }),
  v.transform(({ amount }) => amount),
)
const Ended = v.object({ status: v.picklist(['FAILED', 'EXPIRED', 'CANCELED']) })

function answersAbout(answers: readonly Answered[], { paymentId }: Scene['payment']) {
  const about = answers
    .filter(({ status }) => status === 200)
    .flatMap(({ kind, json }) => {
      const items =
        kind === 'transactions'
          ? (ifValid(v.object({ data: v.array(v.unknown()) }), json)?.data ?? [])
          : [json]
      return items.map((item) => ({
        kind,
        item: Object(item) as Readonly<Record<string, unknown>>,
      }))
    })
    .filter(({ item }) => String(item['reference_id']).startsWith(`${paymentId}-`))
  const amounts = about.flatMap(({ kind, item }) => {
    const amount =
      kind === 'payment' ? ifValid(Capture, item) : kind === 'transactions' && ifValid(OwnRow, item)
    return typeof amount !== 'number'
      ? []
      : [item['currency'] === 'IDR' ? Math.floor(amount) : Number.NaN]
  })
  return { amounts, ended: about.some(({ kind, item }) => kind === 'request' && v.is(Ended, item)) }
}

it.each(TRIGGERS)(
  '%s: a pending payment ends only if the provider’s answers allow it',
  async (name, trigger) => {
    await fc.assert(
      fc.asyncProperty(anyOutcomes, async (outcomes) => {
        const scene = await arrange(outcomes)

        await trigger(scene)

        const status = (await scene.stored())?.status
        const { amounts, ended } = answersAbout(scene.answers, scene.payment)
        // These triggers may end the payment because they cancel its request.
        const mayEnd = ended || ['cancel', 'due work after the expiry'].includes(name)
        if (status === 'succeeded') expect(amounts).toContain(100_000)
        else if (status === 'failed') expect(mayEnd || amounts.length > 0).toBe(true)
        else if (status !== 'pending') expect(mayEnd).toBe(true)
        scene.expectBooks()
        expect(
          scene.deps.lines.filter(({ code }) => code === 'request.failed' && name !== 'cancel'),
        ).toStrictEqual([])
      }),
      RUNS,
    )
  },
)

it('after any transactions the books of a succeeded payment add up; only a reversed payment has an assumed fee', async () => {
  await fc.assert(
    fc.asyncProperty(anyOutcomes, async (outcomes) => {
      const { deps, stored, expectBooks } = await arrange(outcomes, anOpenPayment)

      await syncProviderTransactions.withDeps(deps)({}, {} as never)

      const payment = await stored()
      if (payment?.status !== 'succeeded') throw new Error('the payment is no longer succeeded')
      // A reversed payment row posts the open payment with its estimated fee.
      if (payment.feeStatus === 'assumed') expect(payment.isVoid).toBe(true)
      expectBooks()
    }),
    RUNS,
  )
})

it('POST /v1/payments answers with the provider’s destination, or with a message about the provider', async () => {
  await fc.assert(
    fc.asyncProperty(anyOutcomes, async (outcomes) => {
      const { deps, caller, answers, expectBooks } = await arrange(outcomes)

      const { status, body } = await call(deps, API.createPayment, { caller, body: aPaymentBody() })

      expect([201, 500]).toContain(status)
      if (status === 201) expect(JSON.stringify(answers)).toContain(body['payment_destination'])
      else expect(body['message']).toMatch(/^the provider /)
      expectBooks()
    }),
    RUNS,
  )
})
