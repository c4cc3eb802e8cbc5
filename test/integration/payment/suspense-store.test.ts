import { expect } from 'vitest'
import { handler as listSuspense } from '../../../functions/admin/list-suspense.ts'
import { minor } from '../../../shared/money.ts'
import {
  endSuspenseAlert,
  ensureSuspense,
  findSuspense,
  writeSuspense,
} from '../../../shared/suspense/suspense-store.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { memoryDeps, withRequests } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { bookedItem, it, resolve } from './suspense-test.ts'

it('writeSuspense writes an item once; its alert is due a minute later and ends once', async ({
  deps,
  unstoredItem: item,
}) => {
  const absentId = `py-${crypto.randomUUID()}`
  const first = await writeSuspense(deps, item)
  const second = await writeSuspense(deps, { ...item, amountMinor: minor(1) })

  expect([first.applied, second.applied]).toStrictEqual([true, false])
  expect(await findSuspense(deps, item.suspenseId)).toEqual(item)
  expect(await dueAtOf(deps, 'alert', item.suspenseId)).toBe('2026-11-20T04:01:00.000Z')
  const applied: boolean[] = []
  for (const id of [item.suspenseId, item.suspenseId, absentId])
    applied.push((await endSuspenseAlert(deps, id)).applied)
  expect(applied).toStrictEqual([true, false, false])
  expect(await dueAtOf(deps, 'alert', item.suspenseId)).toBeUndefined()
  expect(await findSuspense(deps, absentId)).toBeUndefined()
})

it('ensureSuspense never refuses a transaction, and does not change a stored item', async ({
  deps,
  item,
}) => {
  const resolvedItem = await resolve(deps, item)

  const changedItem = {
    ...item,
    cause: 'wrong_amount',
    amountMinor: minor(1),
    createdAt: deps.now(),
  }

  expect((await deps.table.transact({ item: ensureSuspense(changedItem) })).applied).toBe(true)
  expect(await findSuspense(deps, item.suspenseId)).toEqual(resolvedItem)
})

it('listSuspense lists all, open or resolved items, newest first', async () => {
  const deps = memoryDeps()
  const makeItem = async () => {
    deps.clock.advance(60)
    return (await bookedItem(deps)).suspenseId
  }
  const [first, second, third] = [await makeItem(), await makeItem(), await makeItem()]
  await resolve(deps, { suspenseId: second })
  const listIds = async (payload: object) => {
    const { body } = await invokeAdmin(listSuspense, deps, payload)
    return (body as { readonly data: readonly { readonly suspense_id: string }[] }).data.map(
      ({ suspense_id: id }) => id,
    )
  }

  expect(await listIds({})).toStrictEqual([third, second, first])
  expect(await listIds({ status: 'open' })).toStrictEqual([third, first])
  expect(await listIds({ status: 'open', per_page: 1, page: 2 })).toStrictEqual([first])
  expect(await listIds({ status: 'resolved' })).toStrictEqual([second])
  expect(await invokeAdmin(listSuspense, deps, { status: 'closed' })).toMatchObject({ status: 422 })
})

it('listSuspense of a client reads at most 5,000 items, and shows that there are more items', async ({
  deps,
}) => {
  let pages = 0
  const items = Array.from({ length: 100 }, (_, at) => ({ pk: `SUSPENSE#${at}`, sk: 'SUSPENSE' }))
  const query = async () => ({ items, count: 100, cursor: ++pages < 51 ? {} : undefined })
  const manyDeps = withRequests(deps, { ...deps.requests, query })

  const { body } = await invokeAdmin(listSuspense, manyDeps, {
    client_id: (await aStoredClient(deps)).clientId,
  })

  expect(body).toMatchObject({ data: [], complete: false })
})
