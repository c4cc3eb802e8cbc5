import { expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { holdMoney } from '../../../shared/payment/held-money.ts'
import { notedKey, paymentKey, suspenseKey } from '../../../shared/table/keys.ts'
import { someHeldMoney } from '../../support/money-rows.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import { erase, putRaw, rawItem } from '../../support/tampering.ts'
import { storeRaw } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { CASE, inDays, send } from '../payment/dispute-news.ts'
import { syncTest as it } from '../sync/sync-test.ts'

it('the audit takes from the event when money was held that a restore lost', async ({
  deps,
  client,
}) => {
  const { payment } = await creditedPayment(deps, client)
  await storedEndpoint(deps, { clientId: client.clientId, eventTypes: ['payment.held'] })
  const key = paymentKey(payment.paymentId)
  const before = await rawItem(deps, key)
  const suspenseId = deps.newId()
  const hold = async () => {
    deps.clock.advance(600)
    const about = { cause: 'second_capture', payment } as const
    await holdMoney(deps, someHeldMoney(deps, suspenseId, 60_000, about))
    deps.clock.advance(600)
  }
  await hold()
  await putRaw(deps, before)
  await erase(deps, suspenseKey(suspenseId))
  await erase(deps, notedKey({ suspenseId, clientId: client.clientId }))

  await hold()

  expect((await auditLedger(deps, client.clientId)).differences).toStrictEqual([])
})

it.for([
  ['deadline', 'answer_by', '2026-12-24T00:00:00.000Z'],
  ['state', 'state', 'under_review'],
] as const)(
  'the audit names a payment that shows another %s than its dispute has',
  async ([, attribute, value], { deps, client }) => {
    const { reference, payment } = await creditedPayment(deps, client)
    await send(deps, { reference_id: reference, due_date: inDays(deps, 7) })
    const { clientId } = client
    expect((await auditLedger(deps, clientId)).differences).toStrictEqual([])

    const rows = deps.stored.items(`SUSPENSE#${CASE}`)
    for (const row of rows) storeRaw(deps.stored, { ...row, [attribute]: value })

    expect((await auditLedger(deps, clientId)).differences).toMatchObject([
      { what: 'payment.dispute', id: payment.paymentId },
    ])
    for (const row of rows) storeRaw(deps.stored, row)
  },
)
