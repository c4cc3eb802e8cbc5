import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { handler as getPayment } from '../../../functions/admin/get-payment.ts'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import { parseOwnJson } from '../../../shared/json.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { API, type ApiClient, anApi, aPaymentBody, call } from '../../support/api-event.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** Metadata as it must come back, character for character. */
const KEPT = [
  '{}',
  '{"a":9007199254740993,"b":-123456789012345678901234567890}',
  '{"a":1.0,"b":1e2,"c":1E+2,"d":-0,"e":0.10,"f":1e400,"g":1e-400,"h":0.1234567890123456789}',
  '{"a":{"b":[1,{"c":[[],{}]},null,true,false,"x"]}}',
  '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":"x","toJSON":"y","hasOwnProperty":null}',
  '{"isLosslessNumber":true,"value":"5","type":"LosslessNumber"}',
  '{"":"","é ☕":"日本語 👍🏽","quote\\"":"\\\\ \\n \\u0000","\u2028":"\u2029"}',
  '{"z":1,"y":2,"x":3}',
  '{"10":1,"9":2,"b":3}',
  '{"b":[{"2":{"1":1.0,"0":{"x":0,"4294967295":1,"7":2}}}],"1":null,"#1":"#","__proto__":{"3":0,"2":0}}',
  `{"a":${'{"a":'.repeat(30)}[]${'}'.repeat(30)}}`,
]

const bodyWith = (metadata: string) => `{"metadata":${metadata},${JSON.stringify(aPaymentBody()).slice(1)}`

/** The characters of `metadata` in an answer, found by what stands on either side of it in the DTO. */
const metadataIn = (text: string) => /"metadata":(.*?),"created_at":"/s.exec(text)?.[1]

const create = (deps: TestDeps, caller: ApiClient, metadata: string, key: string) =>
  call(deps, API.createPayment, { caller, body: bodyWith(metadata), headers: { 'Idempotency-Key': key } })

describe('metadata (spec 2.1: returned unchanged; design section 5: digit for digit, keys in their order)', () => {
  it.each(KEPT)(
    '%s comes back the same in every answer and in the webhook, and with its digits to an operator',
    async (metadata) => {
      const { deps, caller, ask } = await anApi()

      const created = await create(deps, caller, metadata, 'k')
      const id = String(created.body['id'])
      const replayed = await create(deps, caller, metadata, 'k')
      const fetched = await ask('getPayment', { id })
      const listed = await ask('listPayments')
      const [request] = deps.provider.requests.values()
      const providerPaymentId = deps.provider.pay(request?.paymentRequestId ?? '')
      await applyProviderNews(deps, { providerPaymentId }, 'callback')
      const paid = await ask('getPayment', { id })
      const events = await ask('listEvents')
      const other = await create(deps, caller, metadata, 'other')
      const cancelled = await ask('cancelPayment', { id: String(other.body['id']) })
      const shown = await invokeAdmin(getPayment, deps, { payment_id: id })

      const answers = [created, replayed, fetched, listed, paid, events, other, cancelled]
      expect(answers.map(({ status }) => status)).toStrictEqual([201, 200, 200, 200, 200, 200, 201, 200])
      const event = await deps.table.get(eventKey(v.parse(PaymentIdSchema, id), 'payment.succeeded'))
      const texts = [...answers.map(({ text }) => text), String(event?.['body'])]
      expect(texts.map(metadataIn)).toStrictEqual(texts.map(() => metadata))
      // As Lambda writes what an action answers: integer-like keys come first.
      expect(metadataIn(JSON.stringify(shown))).toBe(JSON.stringify(parseOwnJson(metadata)))
    },
  )

  it('is an empty object where PHP writes an empty array, as a customer is none', async () => {
    const { deps, ask, caller } = await anApi()

    const metadata = await create(deps, caller, '[ ]', 'k')
    const customer = await ask('createPayment', { body: { ...aPaymentBody(), customer: [] } })

    expect([metadata.status, metadata.body['metadata']]).toStrictEqual([201, {}])
    expect([customer.status, customer.body['customer']]).toStrictEqual([201, undefined])
  })

  it('pollutes no prototype', async () => {
    const { deps, caller } = await anApi()

    await create(deps, caller, '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}', 'k')

    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})
