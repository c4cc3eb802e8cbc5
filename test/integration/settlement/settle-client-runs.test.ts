/**
 * Goal: a window ends in the settlement one run would make, however many runs meet there or take it in turn. Method: others
 * come between the reading and the write; pages of one row and runs of one page, against what one run settles.
 */
import { TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { describe, expect } from 'vitest'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { ledgerPk } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { beforeFirst, interceptTable, recordTable, writtenKeys } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { sweepADayLater } from '../../support/payout-builders.ts'
import { aDayLater, settlementsOf, sweep, trigger } from '../../support/settlement-builders.ts'
import { clientTest as it } from './client-test.ts'

describe('settleClient that another run overtakes', () => {
  it('lets the late one settle what became eligible since', async ({ deps, client }) => {
    await aSucceededPayment(deps, client, { notionalMinor: 100_000 })
    await aSucceededPayment(deps, client, { notionalMinor: 200_000, paidAt: addMs(deps.now(), 5_000) })
    aDayLater(deps)
    const overtaken = beforeFirst(deps, 'transact', async () => {
      await sweep(deps, client)
      deps.clock.advance(5)
    })

    const late = await trigger(overtaken, client)

    const [second, first] = await settlementsOf(deps, client)
    expect(late).toEqual(second)
    expect(first).toMatchObject({ grossMinor: 100_000, triggeredBy: 'auto' })
    expect(second).toMatchObject({ grossMinor: 200_000, triggeredBy: 'manual', sweptFrom: first?.sweptUntil })
  })

  it('gives up, to be asked again, when the window moves under it every time', async ({ deps, client }) => {
    const first = deps.now()
    for (let at = 0; at < 6; at++) {
      deps.clock.set(addMs(first, at * 60_000))
      await aSucceededPayment(deps, client)
    }
    deps.clock.set(addMs(first, DAY_MS))
    const overtaken = interceptTable(deps, {
      before: async ({ name }) => {
        if (name !== 'transact') return
        await sweep(deps, client)
        deps.clock.advance(60)
      },
    })

    await expect(sweep(overtaken, client)).rejects.toThrow('kept moving')

    expect(await sweep(deps, client)).toMatchObject({ paymentCount: 1 })
    expect(await settlementsOf(deps, client)).toHaveLength(5)
  })

  it('knows its own record when the answer to it was lost', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    let lost = false
    const losing = interceptTable(deps, {
      after: ({ name }) => {
        if (name !== 'transact' || lost) return
        lost = true
        throw new TransactionConflictException({ message: 'conflict', $metadata: {} })
      },
    })

    const settlement = await sweep(losing, client)

    expect(lost).toBe(true)
    expect([settlement]).toEqual(await settlementsOf(deps, client))
  })
})

describe('settleClient beside live payments', () => {
  it('writes the window and the fences of shards alone, and loses no credit', async ({ deps, client }) => {
    for (let at = 0; at < 3; at++) await aSucceededPayment(deps, client, { paidAt: addMs(deps.now(), at * 5_000) })
    aDayLater(deps)
    const settling = recordTable(deps)
    const settleThreeTimes = async () => {
      const settlements: (Settlement | undefined)[] = []
      for (let round = 0; round < 3; round++) {
        settlements.push(await sweep(settling.deps, client))
        deps.clock.advance(5)
      }
      return settlements
    }

    const credits = Array.from({ length: 100 }, () => aSucceededPayment(deps, client))
    const [settlements] = await Promise.all([settleThreeTimes(), ...credits])

    expect(settlements.map((settlement) => settlement?.paymentCount)).toStrictEqual([1, 1, 1])
    const written = writtenKeys(settling.calls).filter(({ pk }) => pk === ledgerPk(client.clientId))
    expect(new Set(written.map(({ sk }) => sk)).size).toBe(17)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 100 * 95_900, succeeded: 103 })
    expect(await sweepADayLater(deps, client)).toMatchObject({ paymentCount: 100, netMinor: 100 * 95_900 })
  })
})
