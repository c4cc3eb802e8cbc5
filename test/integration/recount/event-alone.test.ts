/** Goal: a torn payment is credited with the capture that paid it. Method: its row and its shard as they were before. */
import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-ledger.ts'
import { shardOf } from '../../../shared/ledger/count-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { eventKey, paymentKey } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { withFloor } from '../../support/settlement-builders.ts'
import { paidUpstream, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { hearEverything } from './after-recount.ts'

/** A payment that was paid, of which a restore brought the event alone. */
const eventAlone = async () => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  const paid = await paidUpstream(deps, client)
  const { paymentId } = paid.payment
  const before = await Promise.all([paymentKey(paymentId), shardOf(paid.payment)].map((key) => rawItem(deps, key)))
  await applyProviderNews(deps, { providerPaymentId: paid.providerPaymentId }, 'callback')
  const restore = async () => {
    for (const item of before) await putRaw(deps, item)
  }
  const expected = async () => (await auditLedger(deps, client.clientId)).differences
  return { deps, client, paid, restore, expected }
}

describe('recount-ledger: a payment of which the event alone came back', () => {
  it('is not credited with a second capture that suspense holds', async () => {
    const { deps, client, paid, restore, expected } = await eventAlone()
    deps.provider.transactions.push(rowNow(deps, paid))
    const second = deps.provider.pay(paid.payment.paymentRequestId)
    await applyProviderNews(deps, { providerPaymentId: second }, 'callback')
    await restore()

    await recountLedger(deps, { ...client, expected: await expected(), operator: 'ana' })

    expect(await paymentOf(deps, paid)).toMatchObject({
      status: 'succeeded',
      creditedProviderPaymentId: paid.providerPaymentId,
    })
    await hearEverything(deps)
    await expectBalanced(deps, client.clientId)
  })

  it('is refused by name when suspense holds every capture that the provider shows', async () => {
    const { deps, client, paid, restore, expected } = await eventAlone()
    const second = deps.provider.pay(paid.payment.paymentRequestId)
    await applyProviderNews(deps, { providerPaymentId: second }, 'callback')
    await restore()
    const differences = await expected()

    const refused = recountLedger(deps, { ...client, expected: differences, operator: 'ana' })

    await expect(refused).rejects.toMatchObject({
      code: 'validation',
      fieldErrors: { expected: [`event of ${paid.payment.paymentId}`] },
    })
  })

  it('is left as it is when the event is gone before the recount writes', async () => {
    const { deps, client, paid, restore, expected } = await eventAlone()
    await restore()
    const differences = await expected()
    const key = eventKey(paid.payment.paymentId, 'payment.succeeded')
    const overtaken = beforeFirst(deps, 'transact', () => deps.table.write(remove(key, exists)))

    const refused = recountLedger(overtaken, { ...client, expected: differences, operator: 'ana' })

    await expect(refused).rejects.toMatchObject({ code: 'conflict' })
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'pending' })
    await expectBalanced(deps, client.clientId)
  })
  it('is not found among the differences of another client', async () => {
    const { deps, paid, restore, expected } = await eventAlone()
    await restore()
    const differences = await expected()
    const { clientId } = await withFloor(deps)

    const refused = recountLedger(deps, { clientId, expected: differences, operator: 'ana' })

    await expect(refused).rejects.toMatchObject({
      code: 'validation',
      message: 'the audit does not find these differences now',
      fieldErrors: { expected: [`event of ${paid.payment.paymentId}`] },
    })
  })
})
