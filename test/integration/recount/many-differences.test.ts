/**
 * Goal: a recount finds what it is asked for among more differences than an audit lists. Method: payments in memory, of
 * which every delivery is gone.
 */
import { expect, it } from 'vitest'
import { judgeById } from '../../../shared/audit/judged/audit-payments.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { type Difference, MAX_DIFFERENCES } from '../../../shared/verdict/difference.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import { toldClient } from './torn-world.ts'

const ENDPOINTS = 20
const PAYMENTS = MAX_DIFFERENCES / ENDPOINTS + 1

it('repairs named differences even if the audit has more differences than it lists', async () => {
  const { deps, client } = await toldClient(ENDPOINTS)
  const named: Difference[] = []
  for (let at = 0; at < PAYMENTS; at++) {
    const { payment } = await creditedPayment(deps, client)
    for (const { pk, sk } of deps.stored.items('DELIVERY#')) {
      await deps.table.write(remove({ pk: String(pk), sk: String(sk) }, exists))
    }
    const [judged] = await judgeById(deps, client, [payment.paymentId])
    expect(judged?.differences).toHaveLength(ENDPOINTS)
    named.push(...(judged?.differences.slice(0, 1) ?? []))
  }

  const { written } = await recountLedger(deps, { clientId: client.clientId, expected: named, operator: 'ana' })

  expect(written).toStrictEqual(named)
})
