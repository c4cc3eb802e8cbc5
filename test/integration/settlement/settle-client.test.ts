import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { findAnySettlement } from '../../../shared/settlement/close-store.ts'
import { recordStep } from '../../../shared/settlement/settlement-store.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { queriesIn, recordTable, writtenKeys } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { sweepADayLater } from '../../support/payout-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater, BANK, settle, sweep, withFloor } from '../../support/settlement-builders.ts'
import { clientTest as it } from './client-test.ts'

describe('settleClient (spec 3.2)', () => {
  it('records what was posted and paid a day ago: its sums, its window, the current bank details', async ({ deps }) => {
    const client = await withFloor(deps, 10_000, { bank: BANK })
    deps.clock.advance(60)
    await aSucceededPayment(deps, client)
    await aSucceededPayment(deps, client, { notionalMinor: 250_050, providerFeeMinor: 4_440 })
    const paidAt = deps.now()

    const settlement = await sweepADayLater(deps, client)

    expect(settlement).toStrictEqual({
      settlementId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      clientId: client.clientId,
      sweptFrom: client.createdAt,
      sweptUntil: addMs(paidAt, DAY_MS + 1),
      grossMinor: 350_050,
      providerFeesMinor: 8_440,
      markupMinor: 350,
      netMinor: 341_260,
      paymentCount: 2,
      recreditedMinor: 0,
      unprovenMinor: 0,
      entryCount: 2,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      totals: [
        {
          type: 'payment',
          method: 'virtual_account',
          day: '2026-11-20',
          count: 2,
          grossMinor: 350_050,
          feeMinor: 8_440,
          markupMinor: 350,
          netMinor: 341_260,
          providerMinor: 341_610,
          bankMinor: 0,
          suspenseMinor: 0,
          houseMinor: 350,
        },
      ],
      currency: 'IDR',
      status: 'recorded',
      triggeredBy: 'auto',
      previousId: undefined,
      bank: BANK,
      createdAt: deps.now(),
    })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, succeeded: 2 })
    await expectBalanced(deps, client.clientId)
  })

  it('settles what is 24 hours old to the millisecond, and names the settlement before', async ({ deps, client }) => {
    const last = addMs(deps.now(), 1_500)
    for (const paidAt of [client.createdAt, client.createdAt, last]) await aSucceededPayment(deps, client, { paidAt })

    const first = await sweepADayLater(deps, client)
    deps.clock.set(addMs(last, DAY_MS - 1))
    const none = await sweep(deps, client)
    deps.clock.set(addMs(last, DAY_MS))
    const second = await sweep(deps, client)

    const end = addMs(client.createdAt, DAY_MS + 1)
    expect(first).toMatchObject({ sweptFrom: client.createdAt, sweptUntil: end, paymentCount: 2 })
    expect(none).toBeUndefined()
    const window = { sweptFrom: end, sweptUntil: addMs(last, DAY_MS + 1) }
    expect(second).toMatchObject({ ...window, paymentCount: 1, previousId: first?.settlementId })
  })

  it('raises no fence and reads one page while a window is not above the floor', async ({ deps }) => {
    const client = await withFloor(deps, 95_900)
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const { deps: recorded, calls } = recordTable(deps)

    expect(await settle(recorded, client)).toMatchObject({ settlement: undefined, eligibleMinor: 95_900 })

    expect(writtenKeys(calls)).toStrictEqual([])
    expect(queriesIn(calls).map(({ partition }) => partition)).toStrictEqual([
      [client.clientId],
      [`JOURNAL#${client.clientId}`],
    ])
    expect(await deps.table.get(windowKey(client.clientId))).toMatchObject({ closedUntil: client.createdAt })
  })

  it('never writes over a settlement, and refuses the transaction with it', async ({ deps, settlement }) => {
    const outcome = await deps.table.transact({ settlement: recordStep({ ...settlement, netMinor: minor(1) }) })

    expect(outcome).toMatchObject({ applied: false, refusedBy: 'settlement' })
    const { previousId: _, ...stored } = settlement
    expect(await findAnySettlement(deps, settlement.settlementId)).toStrictEqual(stored)
  })
})
