import { describe, expect, it } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { GatewayError } from '../../../shared/errors.ts'
import { minor } from '../../../shared/money.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { listSettlements } from '../../../shared/settlement/settlement-store.ts'
import { triggerSettlement } from '../../../shared/settlement/trigger-settlement.ts'
import { ledgerPk, settlementKey, windowKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { interceptTable, recordTable, writtenKeys } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import {
  aDayLater,
  aSucceededPayment,
  failedAndRecredited,
  sweep,
  withFloor,
} from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const OPERATOR = 'sari@gateway.example'

/** What the operator gets; nothing when the trigger is refused because there is nothing left to settle. */
const trigger = async (deps: TestDeps, { clientId }: Client): Promise<readonly Settlement[]> => {
  try {
    return await triggerSettlement(deps, { clientId, operator: OPERATOR })
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'validation') return []
    throw error
  }
}

const stored = (deps: TestDeps, { clientId }: Client) => listSettlements(deps, clientId, { page: 1, perPage: 100 })

/** Runs `happening` once, behind the reading of the window and before the write that the reading led to. */
const beforeTheWrite = (deps: TestDeps, happening: () => Promise<unknown>): TestDeps => {
  let happened = false
  return interceptTable(deps, {
    before: async ({ name }) => {
      if (name !== 'transact' || happened) return
      happened = true
      await happening()
    },
  })
}

describe('settleClient called twice at once', () => {
  it.each(Array.from({ length: 50 }, (_, index) => index + 1))(
    'by an operator and by the sweep makes one settlement (round %i)',
    async () => {
      const deps = testDeps()
      const client = await withFloor(deps)
      await aSucceededPayment(deps, client)
      aDayLater(deps)

      const answers = await Promise.all([trigger(deps, client), sweep(deps, client), sweep(deps, client)])

      expect(answers.flat()).toEqual(await stored(deps, client))
      expect(answers.flat()).toMatchObject([{ netMinor: 95_900, paymentCount: 1 }])
      await expectBalanced(deps, client.clientId)
    },
  )

  it.each(Array.from({ length: 10 }, (_, index) => index + 1))(
    'records a recredited settlement again once, and what is new once (round %i)',
    async () => {
      const deps = testDeps()
      const { client, failed } = await failedAndRecredited(deps)
      await aSucceededPayment(deps, client, { notionalMinor: 200_000 })
      aDayLater(deps)

      const answers = await Promise.all([trigger(deps, client), sweep(deps, client), sweep(deps, client)])

      expect(answers.flat()).toHaveLength(2)
      expect(await stored(deps, client)).toMatchObject([
        { grossMinor: 200_000, status: 'recorded' },
        { grossMinor: 100_000, status: 'recorded', replaces: failed.settlementId },
        { grossMinor: 100_000, status: 'failed' },
      ])
      await expectBalanced(deps, client.clientId)
    },
  )

  it('lets the one that comes late find nothing left', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const overtaken = beforeTheWrite(deps, () => sweep(deps, client))

    await expect(triggerSettlement(overtaken, { clientId: client.clientId, operator: OPERATOR })).rejects.toThrow(
      'nothing to settle: 0 IDR are eligible',
    )

    expect(await stored(deps, client)).toMatchObject([{ triggeredBy: 'auto' }])
    await expectBalanced(deps, client.clientId)
  })

  it('lets the one that comes late settle what became eligible since, from where the other ended', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    await aSucceededPayment(deps, client, { notionalMinor: 100_000 })
    await aSucceededPayment(deps, client, { notionalMinor: 200_000, paidAt: addMs(deps.now(), 5) })
    aDayLater(deps)
    const overtaken = beforeTheWrite(deps, async () => {
      await sweep(deps, client)
      deps.clock.set(addMs(deps.now(), 5))
    })

    const late = await trigger(overtaken, client)

    const [second, first] = await stored(deps, client)
    expect(late).toEqual([second])
    expect(first).toMatchObject({ grossMinor: 100_000, triggeredBy: 'auto' })
    expect(second).toMatchObject({ grossMinor: 200_000, triggeredBy: 'manual', periodStart: first?.periodEnd })
    await expectBalanced(deps, client.clientId)
  })

  it('gives up, to be asked again, when the window moves under it every time', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
    for (let at = 0; at < 6; at++) await aSucceededPayment(deps, client, { paidAt: addMs(deps.now(), at) })
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
    expect(await stored(deps, client)).toHaveLength(5)
    await expectBalanced(deps, client.clientId)
  })
})

describe('settleClient beside live payments', () => {
  it('shares no item with the credits, and loses none of them', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
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
    aDayLater(deps)
    expect(await sweep(deps, client)).toMatchObject([{ paymentCount: 200, netMinor: 200 * 95_900 }])
    await expectBalanced(deps, client.clientId)
  })

  it('leaves a payment out whose fee became actual between the reading and the write, until the next run', async () => {
    const deps = testDeps()
    const client = await withFloor(deps)
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
    await expectBalanced(deps, client.clientId)
  })
})
