import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { GatewayError } from '../../../shared/errors.ts'
import { minor } from '../../../shared/money.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { ledgerPk, settlementKey, windowKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { beforeFirst, interceptTable, recordTable, writtenKeys } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { sweepADayLater } from '../../support/payout-builders.ts'
import { aDayLater, aSucceededPayment, settlementsOf, sweep, trigger } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

/** Two sweeps and an operator's trigger, which is refused when nothing is left to settle. */
const threeAtOnce = async (deps: TestDeps, client: Client): Promise<readonly Settlement[]> => {
  const triggered = trigger(deps, client).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'validation') return []
    throw error
  })
  return (await Promise.all([triggered, sweep(deps, client), sweep(deps, client)])).flat()
}

/** Behind the reading of the window and before the write that the reading led to. */
const beforeTheWrite = (deps: TestDeps, happening: () => Promise<unknown>): TestDeps =>
  beforeFirst(deps, 'transact', happening)

describe('settleClient called twice at once', () => {
  it('by an operator and by the sweep makes one settlement', { repeats: 49 }, async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    aDayLater(deps)

    const answers = await threeAtOnce(deps, client)

    expect(answers).toEqual(await settlementsOf(deps, client))
    expect(answers).toMatchObject([{ netMinor: 95_900, paymentCount: 1 }])
  })

  it('lets the one that comes late settle what became eligible since', async ({ deps, client }) => {
    await aSucceededPayment(deps, client, { notionalMinor: 100_000 })
    await aSucceededPayment(deps, client, { notionalMinor: 200_000, paidAt: addMs(deps.now(), 5) })
    aDayLater(deps)
    const overtaken = beforeTheWrite(deps, async () => {
      await sweep(deps, client)
      deps.clock.set(addMs(deps.now(), 5))
    })

    const late = await trigger(overtaken, client)

    const [second, first] = await settlementsOf(deps, client)
    expect(late).toEqual([second])
    expect(first).toMatchObject({ grossMinor: 100_000, triggeredBy: 'auto' })
    expect(second).toMatchObject({ grossMinor: 200_000, triggeredBy: 'manual', periodStart: first?.periodEnd })
  })

  it('gives up, to be asked again, when the window moves under it every time', async ({ deps, client }) => {
    for (let at = 0; at < 10; at++) await aSucceededPayment(deps, client, { paidAt: addMs(deps.now(), at) })
    aDayLater(deps)
    const overtaken = interceptTable(deps, {
      before: async ({ name }) => {
        if (name !== 'transact') return
        await sweep(deps, client)
        deps.clock.set(addMs(deps.now(), 1))
      },
    })

    await expect(sweep(overtaken, client)).rejects.toThrow('kept moving')

    expect(await sweep(deps, client)).toHaveLength(1)
    expect(await settlementsOf(deps, client)).toHaveLength(9)
  })
})

describe('settleClient beside live payments', () => {
  it('shares no item with the credits, and loses none of them', async ({ deps, client }) => {
    for (let at = 0; at < 5; at++) await aSucceededPayment(deps, client, { paidAt: addMs(deps.now(), at) })
    aDayLater(deps)
    const settling = recordTable(deps)
    const crediting = recordTable(deps)

    const settle = async () => {
      const settlements: Settlement[] = []
      for (let round = 0; round < 5; round++) {
        settlements.push(...(await sweep(settling.deps, client)))
        deps.clock.set(addMs(deps.now(), 1))
      }
      return settlements
    }
    const credits = Array.from({ length: 200 }, () => aSucceededPayment(crediting.deps, client))
    const [settlements] = await Promise.all([settle(), ...credits])

    expect(settlements).toHaveLength(5)
    expect(writtenKeys(settling.calls)).toStrictEqual(
      settlements.flatMap(({ settlementId }) => [windowKey(client.clientId), settlementKey(settlementId)]),
    )
    const credited = writtenKeys(crediting.calls)
    // Each payment, its event, its shard, and what leads to it from its destination.
    expect(credited).toHaveLength(800)
    expect(new Set(credited.filter(({ pk }) => pk === ledgerPk(client.clientId)).map(({ sk }) => sk))).not.toContain(
      windowKey(client.clientId).sk,
    )
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 200 * 95_900, succeeded: 205 })
    expect(await sweepADayLater(deps, client)).toMatchObject([{ paymentCount: 200, netMinor: 200 * 95_900 }])
  })

  it('leaves a fee that became actual behind the reading to the next run', async ({ deps, client }) => {
    await aSucceededPayment(deps, client, { notionalMinor: 100_000 })
    const waiting = await aSucceededPayment(deps, client, {
      notionalMinor: 200_000,
      paidAt: addMs(deps.now(), 1),
      feeStatus: 'estimated',
    })
    deps.clock.set(addMs(deps.now(), 1))
    aDayLater(deps)
    const raced = beforeTheWrite(deps, () => makeFeeFinal(deps, waiting, { status: 'actual', feeMinor: minor(4_444) }))

    const first = await sweep(raced, client)
    const second = await sweep(deps, client)

    expect(first).toMatchObject([{ grossMinor: 100_000, providerFeesMinor: 4_000, periodEnd: waiting.paidAt }])
    expect(second).toMatchObject([{ grossMinor: 200_000, providerFeesMinor: 4_444, periodStart: waiting.paidAt }])
  })
})
