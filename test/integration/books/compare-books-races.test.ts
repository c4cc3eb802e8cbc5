/**
 * Goal: of two comparisons at once one is kept, and an operator's word stands. Method: the other one acts between the
 * reading and the writing of the first.
 */
import { describe, expect, it } from 'vitest'
import { compareBooks } from '../../../shared/books/compare-books.ts'
import { countPaid } from '../../../shared/books/count-paid.ts'
import { readPaidCount } from '../../../shared/books/paid-count-store.ts'
import { readTold, tellDifference } from '../../../shared/books/told-differences.ts'
import { minor } from '../../../shared/money.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import {
  aboutOf,
  aClientWithBooks,
  compared,
  compareToday,
  overdue,
  passes,
  RECEIVED,
  reported,
  resolve,
} from './books-world.ts'

describe('of two at once', () => {
  it('one keeps what it compared, and reports it', async () => {
    const { deps, client } = await aClientWithBooks()
    const overtaken = beforeFirst(deps, 'put', () => compareBooks(deps, client.clientId, undefined))
    await compareBooks(overtaken, client.clientId, undefined)

    expect(await compared(deps, client)).toMatchObject({ version: 1 })
    expect(reported(deps)).toHaveLength(1)
  })

  it('what the slower one told is closed by the next day, though nothing has moved since the other one found it gone', async () => {
    const { deps, client, waiting } = await aClientWithBooks()
    await compareToday(deps, client)
    passes(deps, 5 * DAY_MS)
    const overtaken = beforeFirst(deps, 'put', async () => {
      await noteProviderSettled(deps, waiting, deps.now())
      await compareBooks(deps, client.clientId, undefined)
    })
    await compareBooks(overtaken, client.clientId, undefined)
    const told = await aboutOf(deps, client, 'provider_overdue')
    await compareToday(deps, client)

    expect(told).toMatchObject({ status: 'open', amountMinor: RECEIVED })
    expect(await aboutOf(deps, client, 'provider_overdue')).toMatchObject({ status: 'resolved' })
  })

  it('one keeps what it counted, and the other takes nothing of it back', async () => {
    const { deps, client, waiting } = await aClientWithBooks()
    const count = (own: TestDeps) => countPaid(own, client, { parts: 1, isOver: () => false })
    const overtaken = beforeFirst(deps, 'put', async () => {
      await count(deps)
      await noteProviderSettled(deps, waiting, deps.now())
      await count(deps)
    })

    expect(await count(overtaken)).toMatchObject({ sums: { paymentCount: 3 }, notDueMinor: RECEIVED })
    expect(await readPaidCount(deps, client.clientId)).toMatchObject({ version: 2, sums: { paymentCount: 3 } })
  })

  it('an operator’s word stands: what was resolved meanwhile is neither amended nor closed', async () => {
    const { deps, client } = await overdue()
    const { clientId } = client
    const known = (await readTold(deps, clientId)).get('provider_overdue')
    await resolve(deps, client)
    await tellDifference(deps, clientId, { subject: 'provider_overdue', amountMinor: minor(5), known })
    await tellDifference(deps, clientId, { subject: 'provider_overdue', amountMinor: minor(0), known })

    expect(await aboutOf(deps, client, 'provider_overdue')).toMatchObject({
      status: 'resolved',
      resolution: 'written_off',
      amountMinor: RECEIVED,
      notes: 'the provider went bankrupt',
    })
  })

  it('and what is open again is opened, and told, once', async () => {
    const { deps, client } = await overdue()
    const { clientId } = client
    await resolve(deps, client)
    const known = (await readTold(deps, clientId)).get('provider_overdue')
    const again = { subject: 'provider_overdue', amountMinor: minor(5), known } as const
    await tellDifference(deps, clientId, again)
    await tellDifference(deps, clientId, { ...again, amountMinor: minor(6) })

    expect(await aboutOf(deps, client, 'provider_overdue')).toMatchObject({ status: 'open', amountMinor: 5 })
    expect(deps.published).toHaveLength(2)
  })
})
