/**
 * Goal: what changes a payment during an erasure leaves no customer behind. Method: the change
 * comes between the reads and the write of the erasure, or the other way round.
 */
import { assert, describe, expect } from 'vitest'
import { referenceOf } from '../../../shared/ids.ts'
import { holdMoney } from '../../../shared/payment/held-money.ts'
import { receiveCallback } from '../../../shared/payment/news/receive-callback.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'
import { deflateText } from '../../../shared/table/deflated-text.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { bookRefund, someHeldMoney } from '../../support/money-rows.ts'
import { eventsOf, succeededKey } from '../../support/payment-builders.ts'
import { changeRow } from '../../support/tampering.ts'
import { beforeCommit, beforeFirst, type TestDeps } from '../../support/test-deps.ts'
import { erasedAnswer, erasureTest as it } from './paid-customer.ts'

describe('during an erasure', () => {
  it.for<[string, (deps: TestDeps, payment: Payment) => Promise<unknown>]>([
    ['moves', (deps, payment) => bookRefund(deps, payment, 10_000)],
    [
      'is held',
      (deps, payment) =>
        holdMoney(
          deps,
          someHeldMoney(deps, 'py-second', 5_000, { cause: 'second_capture', payment }),
        ),
    ],
  ])(
    'answers a conflict when money %s at the same time; a repeat also erases the new event',
    async ([, change], { deps, payment, erase, bodies, storedPayment }) => {
      const overtaken = beforeCommit(deps, () => change(deps, payment))

      expect(await erase(undefined, overtaken)).toMatchObject({ status: 409 })
      expect(await storedPayment()).toHaveProperty('customer')
      expect(await erase()).toMatchObject(erasedAnswer(payment, 1))

      await bookRefund(deps, await storedPayment(), 5_000)
      expect(await bodies()).toHaveLength(3)
      expect((await bodies()).join('')).not.toContain('sari@shop')
    },
  )

  it('erases the event of a dispute that the payment does not show, written meanwhile', async ({
    deps,
    client,
    payment,
    erase,
    bodies,
  }) => {
    const tell = (state: string, id: string) =>
      receiveCallback(deps, {
        isGenuine: true,
        rawBody: Buffer.from(
          JSON.stringify({
            event: `dispute.${state}`,
            reference_id: referenceOf(payment.paymentId, 1),
            id,
          }),
        ),
        parse: parseCallback,
      })
    await tell('action_required', 'mi-first')
    const overtaken = beforeCommit(deps, () => tell('under_review', 'mi-second'))

    expect(await erase(undefined, overtaken)).toMatchObject(erasedAnswer(payment, 3))
    expect((await bodies()).join('')).not.toContain('sari@shop')

    // A run that died between the payment and this event is repeated by the reference too.
    const [event] = (await eventsOf(deps, payment)).slice(-1)
    assert(event)
    const named = event.body.replace('"data":{', '"data":{"customer":{"name":"Sari"},')
    const key = eventKey(event.subject, event.name)
    await changeRow(deps, key, { set: { body: deflateText(named) } })
    const byReference = { client_id: client.clientId, external_reference: 'order-17' }
    expect(await erase(byReference)).toMatchObject({
      status: 200,
      body: { erased: [{ fields: [], events: 1 }], complete: true },
    })
    expect((await bodies()).join('')).not.toContain('Sari')
  })

  it('makes a concurrent movement read the payment again', async ({
    deps,
    payment,
    erase,
    bodies,
  }) => {
    const overtaken = beforeCommit(deps, () => erase())

    await bookRefund(overtaken, payment, 10_000)

    expect(await bodies()).toHaveLength(2)
    expect((await bodies()).join('')).not.toContain('sari@shop')
  })

  it('does not restore an event that expires at the same time', async ({
    deps,
    payment,
    erase,
    bodies,
  }) => {
    const key = succeededKey(payment)
    const overtaken = beforeFirst(deps, 'update', () => deps.table.write(remove(key, exists)))

    expect(await erase(undefined, overtaken)).toMatchObject(erasedAnswer(payment, 0))
    expect(await bodies()).toStrictEqual([])
  })
})
