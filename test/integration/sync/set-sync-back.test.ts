import { expect } from 'vitest'
import { setSyncBack } from '../../../infra/operate/restore/restore-store.ts'
import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { paymentKey, syncJobKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, MINUTE_MS } from '../../../shared/time.ts'
import { someHeldMoney } from '../../support/money-rows.ts'
import { expectPayment } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst } from '../../support/test-deps.ts'
import { syncTest as it, withBacklog } from './sync-test.ts'

it('a restore sets the sync back also while a run moves the head', async ({ deps, syncAfter }) => {
  const firstReadAt = deps.now()
  await withBacklog(deps, 49)

  await syncProviderTransactions(beforeFirst(deps, 'update', () => setSyncBack(deps.table)))

  expect(await deps.table.get(syncJobKey('head'))).toMatchObject({
    position: addMs(firstReadAt, -DAY_MS - 2 * MINUTE_MS),
    reversalsAt: firstReadAt,
  })
  expect(await syncAfter(300)).toMatchObject({ transactions: 49, complete: true })
})

it('a restore that is overtaken by a run asks for another try', async ({ deps, syncAfter }) => {
  await withBacklog(deps, 49)
  const { table } = beforeFirst(deps, 'update', () => syncAfter(300))

  await expect(setSyncBack(table)).rejects.toThrow('try again')
})

it('a payment that a restore brought back is credited', async ({ deps, paid }) => {
  const keys = [paymentKey(paid.payment.paymentId), shardOf(paid.payment)]
  const rows = await Promise.all(keys.map((key) => rawItem(deps, key)))
  await recordSuspense(deps, someHeldMoney(deps, paid.providerPaymentId, 100_000))
  await applyProviderNews(deps, paid, 'due_work')
  for (const row of rows) await putRaw(deps, row)

  await applyProviderNews(deps, paid, 'due_work')

  await expectPayment(deps, paid, { status: 'succeeded' })
})
