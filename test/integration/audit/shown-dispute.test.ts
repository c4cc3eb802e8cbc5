import { expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import { storeRaw } from '../../support/test-deps.ts'
import { CASE, inDays, send } from '../payment/dispute-news.ts'
import { syncTest as it } from '../sync/sync-test.ts'

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
