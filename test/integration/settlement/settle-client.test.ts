import { describe, expect, it } from 'vitest'
import { firstWindowStart } from '../../../shared/client/client.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import { minor } from '../../../shared/money.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { paymentKey, settlementKey, windowKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, HOUR_MS } from '../../../shared/time.ts'
import { aClient } from '../../support/client-builders.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { interceptTable, recordTable, writtenKeys } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aDayLater, aSucceededPayment, BANK, sweep, withFloor } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('settleClient (spec 3.2)', () => {
  it('records what was paid a day ago, with its sums, its window and the bank details of the moment', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 10_000, { bank: BANK })
    deps.clock.advance(60)
    await aSucceededPayment(deps, client)
    await aSucceededPayment(deps, client, { notionalMinor: 250_050, providerFeeMinor: 4_440 })
    aDayLater(deps)

    const settlements = await sweep(deps, client)

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

  it('writes the window and the settlement and nothing else', async () => {
    const { deps, calls } = recordTable(testDeps())
    const client = await withFloor(deps, 0)
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    calls.length = 0

    const [settlement] = await sweep(deps, client)

    expect(writtenKeys(calls)).toStrictEqual([
      windowKey(client.clientId),
      settlement && settlementKey(settlement.settlementId),
    ])
  })

  it('settles a payment that is 24 hours old to the millisecond, and leaves one that is a millisecond younger', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 0)
    await aSucceededPayment(deps, client, { notionalMinor: 100_000 })
    await aSucceededPayment(deps, client, { notionalMinor: 200_000, paidAt: addMs(deps.now(), 1) })
    aDayLater(deps)

    const first = await sweep(deps, client)
    deps.clock.set(addMs(deps.now(), 1))
    const second = await sweep(deps, client)

    expect(first).toMatchObject([{ grossMinor: 100_000, paymentCount: 1 }])
    expect(second).toMatchObject([{ grossMinor: 200_000, paymentCount: 1, periodStart: first[0]?.periodEnd }])
    await expectBalanced(deps, client.clientId)
  })

  it('puts all payments of the first millisecond in, and all at exactly the end into the next settlement', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 0)
    const end = addMs(deps.now(), 1)
    for (const paidAt of [client.createdAt, client.createdAt, end, end, addMs(end, 1)]) {
      await aSucceededPayment(deps, client, { paidAt })
    }
    aDayLater(deps)

    const first = await sweep(deps, client)
    deps.clock.set(addMs(deps.now(), 1))
    const second = await sweep(deps, client)
    deps.clock.set(addMs(deps.now(), 1))
    const third = await sweep(deps, client)

    expect(first).toMatchObject([{ periodStart: firstWindowStart(client), periodEnd: end, paymentCount: 2 }])
    expect(second).toMatchObject([{ periodStart: end, periodEnd: addMs(end, 1), paymentCount: 2 }])
    expect(third).toMatchObject([{ periodStart: addMs(end, 1), periodEnd: addMs(end, 2), paymentCount: 1 }])
    await expectBalanced(deps, client.clientId)
  })

  it('finds nothing for a client younger than a day, after a clock that stepped back, and the second time', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 0)
    await aSucceededPayment(deps, client)

    deps.clock.advance(3_600)
    expect(await sweep(deps, client)).toStrictEqual([])
    deps.clock.advance(23 * 3_600)
    expect(await sweep(deps, client)).toHaveLength(1)
    expect(await sweep(deps, client)).toStrictEqual([])
    deps.clock.set(addMs(deps.now(), -HOUR_MS))
    expect(await sweep(deps, client)).toStrictEqual([])

    await expectBalanced(deps, client.clientId)
  })

  it('goes on for a disabled client', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 0, { enabled: false })
    await aSucceededPayment(deps, client)
    aDayLater(deps)

    expect(await sweep(deps, client)).toHaveLength(1)
  })

  it('refuses an unknown client with 404 and writes nothing', async () => {
    const { deps, calls } = recordTable(testDeps())

    await expect(sweep(deps, aClient())).rejects.toThrow('client not found')

    expect(writtenKeys(calls)).toStrictEqual([])
  })

  it('writes nothing when an amount in the books does not add up', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 0)
    const payment = await aSucceededPayment(deps, client)
    aDayLater(deps)
    const setNet = (netMinor: number) => deps.table.write(update(paymentKey(payment.paymentId), { set: { netMinor } }))
    await setNet(payment.netMinor + 1)

    await expect(sweep(deps, client)).rejects.toThrow('gross - fees - markup is not net')

    expect(await deps.table.get(windowKey(client.clientId))).toMatchObject({ settledMinor: 0 })
    await setNet(payment.netMinor)
    expect(await sweep(deps, client)).toHaveLength(1)
    await expectBalanced(deps, client.clientId)
  })
})

describe('bank details of a settlement (spec 2.3)', () => {
  it('are null until they are registered, and a snapshot from then on', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 0)
    const register = (bank: typeof BANK) =>
      changeClient(deps, { clientId: client.clientId, operator: 'sari', changes: { bank } })
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const [first] = await sweep(deps, client)
    await register(BANK)
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const [second] = await sweep(deps, client)
    await register({ ...BANK, bankAccountNo: '9999999999' })

    const bankOf = async (settlement: Settlement | undefined) =>
      settlement && (await findAnySettlement(deps, settlement.settlementId)).bank
    expect(await bankOf(first)).toBeUndefined()
    expect(await bankOf(second)).toStrictEqual(BANK)
    await expectBalanced(deps, client.clientId)
  })

  it('and the floor are those of the record, however long the summing took', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 1_000_000, { bank: { ...BANK, bankAccountNo: '1111111111' } })
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const slow = interceptTable(deps, {
      after: async (call) => {
        if (!('query' in call) || call.query.index !== 'by-paid') return
        const changes = { bank: BANK, settlementFloorMinor: minor(0) }
        await changeClient(deps, { clientId: client.clientId, operator: 'sari', changes })
      },
    })

    expect(await sweep(slow, client)).toMatchObject([{ bank: BANK }])

    await expectBalanced(deps, client.clientId)
  })
})
