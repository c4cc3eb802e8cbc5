import { describe, expect } from 'vitest'
import { firstWindowStart } from '../../../shared/client/client.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import { minor } from '../../../shared/money.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement, recordStep } from '../../../shared/settlement/settlement-store.ts'
import { paymentKey, windowKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, HOUR_MS } from '../../../shared/time.ts'
import { aClient } from '../../support/client-builders.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { interceptTable, recordTable, writtenKeys } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { sweepADayLater } from '../../support/payout-builders.ts'
import { aDayLater, aSucceededPayment, BANK, sweep, withFloor } from '../../support/settlement-builders.ts'
import { clientTest as it } from './client-test.ts'

describe('settleClient (spec 3.2)', () => {
  it('records what was paid a day ago: its sums, its window and the bank details of now', async ({ deps }) => {
    const client = await withFloor(deps, 10_000, { bank: BANK })
    deps.clock.advance(60)
    await aSucceededPayment(deps, client)
    await aSucceededPayment(deps, client, { notionalMinor: 250_050, providerFeeMinor: 4_440 })

    const settlements = await sweepADayLater(deps, client)

    expect(settlements).toStrictEqual([
      {
        settlementId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        clientId: client.clientId,
        periodStart: firstWindowStart(client),
        periodEnd: addMs(deps.now(), 1 - DAY_MS),
        grossMinor: 350_050,
        providerFeesMinor: 8_440,
        markupMinor: 350,
        netMinor: 341_260,
        paymentCount: 2,
        currency: 'IDR',
        status: 'recorded',
        triggeredBy: 'auto',
        bank: BANK,
        createdAt: deps.now(),
      },
    ])
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, succeeded: 2 })
    await expectBalanced(deps, client.clientId)
  })

  it('settles what is 24 hours old to the millisecond, and whole milliseconds', async ({ deps, client }) => {
    const end = addMs(deps.now(), 1)
    for (const paidAt of [client.createdAt, client.createdAt, end, end, addMs(end, 1)]) {
      await aSucceededPayment(deps, client, { paidAt })
    }

    const first = await sweepADayLater(deps, client)
    deps.clock.set(addMs(deps.now(), 1))
    const second = await sweep(deps, client)
    deps.clock.set(addMs(deps.now(), 1))
    const third = await sweep(deps, client)

    expect(first).toMatchObject([{ periodStart: firstWindowStart(client), periodEnd: end, paymentCount: 2 }])
    expect(second).toMatchObject([{ periodStart: end, periodEnd: addMs(end, 1), paymentCount: 2 }])
    expect(third).toMatchObject([{ periodStart: addMs(end, 1), periodEnd: addMs(end, 2), paymentCount: 1 }])
  })

  it('finds nothing before a day, the second time, or behind a clock that stepped back', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)

    deps.clock.advance(3_600)
    expect(await sweep(deps, client)).toStrictEqual([])
    deps.clock.advance(23 * 3_600)
    expect(await sweep(deps, client)).toHaveLength(1)
    expect(await sweep(deps, client)).toStrictEqual([])
    deps.clock.set(addMs(deps.now(), -HOUR_MS))
    expect(await sweep(deps, client)).toStrictEqual([])
  })

  it('refuses an unknown client with 404 and writes nothing', async ({ deps }) => {
    const { deps: recorded, calls } = recordTable(deps)

    await expect(sweep(recorded, aClient())).rejects.toThrow('client not found')

    expect(writtenKeys(calls)).toStrictEqual([])
  })

  it('writes nothing when an amount in the books does not add up', async ({ deps, client }) => {
    const payment = await aSucceededPayment(deps, client)
    const setNet = (netMinor: number) => deps.table.write(update(paymentKey(payment.paymentId), { set: { netMinor } }))
    await setNet(payment.netMinor + 1)

    await expect(sweepADayLater(deps, client)).rejects.toThrow('gross - fees - markup is not net')

    expect(await deps.table.get(windowKey(client.clientId))).toMatchObject({ settledMinor: 0 })
    await setNet(payment.netMinor)
    expect(await sweep(deps, client)).toHaveLength(1)
  })

  it('never writes over a settlement, and refuses the transaction with it', async ({ deps, settlement }) => {
    const outcome = await deps.table.transact({ settlement: recordStep({ ...settlement, netMinor: minor(1) }) })

    expect(outcome).toMatchObject({ applied: false, refusedBy: 'settlement' })
    expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual(settlement)
  })
})

describe('bank details of a settlement (spec 2.3)', () => {
  it('are null until they are registered, and a snapshot from then on', async ({ deps }) => {
    const client = await withFloor(deps)
    const register = (bank: typeof BANK) =>
      changeClient(deps, { clientId: client.clientId, operator: 'sari', changes: { bank } })
    await aSucceededPayment(deps, client)
    const [first] = await sweepADayLater(deps, client)
    await register(BANK)
    await aSucceededPayment(deps, client)
    const [second] = await sweepADayLater(deps, client)
    await register({ ...BANK, bankAccountNo: '9999999999' })

    const bankOf = async (settlement: Settlement | undefined) =>
      settlement && (await findAnySettlement(deps, settlement.settlementId)).bank
    expect(await bankOf(first)).toBeUndefined()
    expect(await bankOf(second)).toStrictEqual({ ...BANK, since: expect.any(String) })
    await expectBalanced(deps, client.clientId)
  })

  it('and the floor are those of the record, however long the summing took', async ({ deps }) => {
    const client = await withFloor(deps, 1_000_000, { bank: { ...BANK, bankAccountNo: '1111111111' } })
    await aSucceededPayment(deps, client)
    const slow = interceptTable(deps, {
      after: async (call) => {
        if (!('query' in call) || call.query.index !== 'by-owner-paid') return
        const changes = { bank: BANK, settlementFloorMinor: minor(0) }
        await changeClient(deps, { clientId: client.clientId, operator: 'sari', changes })
      },
    })

    expect(await sweepADayLater(slow, client)).toMatchObject([
      { bank: { ...BANK, since: expect.any(String) as unknown } },
    ])

    await expectBalanced(deps, client.clientId)
  })
})

describe('the settlement floor (spec 3.2, rule 3)', () => {
  it('keeps a net equal to the floor pending, and settles one rupiah more', async ({ deps }) => {
    const equal = await withFloor(deps, 95_900)
    const above = await withFloor(deps, 95_899)
    for (const client of [equal, above]) await aSucceededPayment(deps, client)
    aDayLater(deps)

    expect(await sweep(deps, equal)).toStrictEqual([])
    expect(await sweep(deps, above)).toMatchObject([{ netMinor: 95_900 }])

    expect(await ledgerView(deps, equal.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    await expectBalanced(deps, equal.clientId)
    await expectBalanced(deps, above.clientId)
  })

  it('of zero needs a net above zero; what stays below counts again', async ({ deps, client }) => {
    const paid = (notionalMinor: number) => aSucceededPayment(deps, client, { notionalMinor, providerFeeMinor: 4_000 })
    await paid(1_000)
    expect(await sweepADayLater(deps, client)).toStrictEqual([])
    await paid(7_007)
    // -3,001 and 3,000: still below zero.
    expect(await sweepADayLater(deps, client)).toStrictEqual([])
    await paid(4_006)

    const settlements = await sweepADayLater(deps, client)

    expect(settlements).toMatchObject([
      { periodStart: firstWindowStart(client), grossMinor: 12_013, netMinor: 1, paymentCount: 3 },
    ])
  })
})
