import { expect, it } from 'vitest'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { readWindow } from '../../../shared/settlement/window-store.ts'
import { resolveSuspense } from '../../../shared/suspense/resolve-suspense.ts'
import { listSuspense } from '../../../shared/suspense/suspense-store.ts'
import { disputed } from '../../support/dispute-builders.ts'
import { dies, everyDeath, processThatDies } from '../../support/dying-process.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import {
  aDayLater,
  BY_OPERATOR,
  fail,
  recredit,
  storeSucceeded,
  succeededPayment,
  sweptNow,
  withFloor,
} from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** More than fit the transaction of a re-credit. */
const MANY = 95

/** A failed settlement, of which all went back but one payment of 95,900 net. */
const manyGone = async () => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  const payments = Array.from({ length: MANY + 1 }, () => succeededPayment(client, { paidAt: deps.now() }))
  await storeSucceeded(deps, payments)
  aDayLater(deps)
  const settlement = await sweptNow(deps, client)
  for (const payment of payments.slice(1)) await reversePayment(deps, payment, disputed(payment))
  await fail(deps, settlement)
  return { deps, client, settlement }
}

const openReceivables = async (deps: TestDeps) => {
  const items = await listSuspense(deps, 'open', { page: 1, perPage: 100 })
  return items.filter(({ kind }) => kind === 'receivable')
}

it('a re-credit closes all that is owed for what it leaves out, however much, wherever the process dies', async () => {
  const calm = await manyGone()
  const counted = processThatDies(calm.deps)
  await recredit(counted.deps, calm.settlement)

  for (const death of [undefined, ...everyDeath(counted.calls.length)]) {
    const { deps, client, settlement } = await manyGone()
    if (death) await dies(() => recredit(processThatDies(deps, death).deps, settlement))
    await recredit(deps, settlement).catch((error: unknown) => expect(error).toMatchObject({ code: 'validation' }))

    expect(await openReceivables(deps)).toStrictEqual([])
    expect(await readWindow(deps, client.clientId)).toMatchObject({
      availableMinor: 95_900,
      reversedSweptMinor: MANY * 95_900,
    })
  }
})

it('sees that an operator closes one of them at the same moment', async () => {
  const { deps, client, settlement } = await manyGone()
  const [first] = await openReceivables(deps)
  const suspenseId = first?.suspenseId ?? ''
  const racing = beforeFirst(deps, 'transact', () =>
    resolveSuspense(deps, { suspenseId, ...BY_OPERATOR, resolution: 'recovered' }),
  )

  await recredit(racing, settlement)

  expect(await openReceivables(deps)).toStrictEqual([])
  const told = await listSuspense(deps, 'open', { page: 1, perPage: 100 })
  expect(told).toMatchObject([{ cause: 'left_out_though_closed', suspenseId: `${suspenseId}#left_out_though_closed` }])
  await expectBalanced(deps, client.clientId)
})
