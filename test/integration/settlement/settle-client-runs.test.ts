/**
 * Goal: a window ends in the settlement one run would make, however many runs meet there or take it in turn. Method: others
 * come between the reading and the write; pages of one row and runs of one page, against what one run settles.
 */
import { describe, expect } from 'vitest'
import { handler as worker } from '../../../functions/queue/settle-client.ts'
import { type Client, firstWindowStart } from '../../../shared/client/client.ts'
import { GatewayError } from '../../../shared/errors.ts'
import { minor } from '../../../shared/money.ts'
import { listAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { settlementStatement } from '../../../shared/settlement/statement/settlement-statement.ts'
import { triggerSettlement } from '../../../shared/settlement/trigger-settlement.ts'
import { ledgerPk, settlementKey, windowKey, windowProgressKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst, interceptTable, queriesIn, recordTable, writtenKeys } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { sweepADayLater } from '../../support/payout-builders.ts'
import {
  aDayLater,
  aSucceededPayment,
  BY_OPERATOR,
  inSteps,
  settle,
  settlementsOf,
  sweep,
  trigger,
  withFloor,
} from '../../support/settlement-builders.ts'
import { rawItem } from '../../support/tampering.ts'
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
    const overtaken = beforeFirst(deps, 'transact', async () => {
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

    const settleFiveTimes = async () => {
      const settlements: Settlement[] = []
      for (let round = 0; round < 5; round++) {
        settlements.push(...(await sweep(settling.deps, client)))
        deps.clock.set(addMs(deps.now(), 1))
      }
      return settlements
    }
    const credits = Array.from({ length: 200 }, () => aSucceededPayment(crediting.deps, client))
    const [settlements] = await Promise.all([settleFiveTimes(), ...credits])

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
    const raced = beforeFirst(deps, 'transact', () =>
      makeFeeFinal(deps, waiting, { status: 'actual', feeMinor: minor(4_444) }),
    )

    const first = await sweep(raced, client)
    const second = await sweep(deps, client)

    expect(first).toMatchObject([{ grossMinor: 100_000, providerFeesMinor: 4_000, periodEnd: waiting.paidAt }])
    expect(second).toMatchObject([{ grossMinor: 200_000, providerFeesMinor: 4_444, periodStart: waiting.paidAt }])
  })
})

/** Two payments in a first millisecond, one in each of those behind it. */
const fivePayments = async (deps: TestDeps, client: Client, fields: Parameters<typeof aSucceededPayment>[2] = {}) => {
  const at = [0, 0, 1, 2, 3].map((ms) => addMs(deps.now(), ms))
  const payments: Payment[] = []
  for (const paidAt of at) payments.push(await aSucceededPayment(deps, client, { ...fields, paidAt }))
  deps.clock.set(addMs(deps.now(), 3))
  aDayLater(deps)
  return payments
}

const ALL_FIVE = { paymentCount: 5, grossMinor: 500_000, netMinor: 5 * 95_900 }

const messagesIn = ({ sent }: TestDeps) => sent.splice(0).map(({ message }) => JSON.stringify(message.body))

/** The queue until it is empty, every message twice. */
const workedOff = async (deps: TestDeps): Promise<number> => {
  let runs = 0
  for (let bodies = messagesIn(deps); bodies.length > 0 && runs < 100; bodies = messagesIn(deps)) {
    const [body] = bodies
    for (let time = 0; time < 2; time++) {
      runs++
      const event = { Records: [{ messageId: 'm', body }] }
      await worker.withDeps(deps)(event as never, { functionName: 'settle-client' } as never)
    }
  }
  return runs
}

describe('a window that one run cannot sum', () => {
  it('is settled in the name of the operator who asked, who is told how far it is', async ({ deps, client }) => {
    await fivePayments(deps, client)
    const small = inSteps(deps)
    const { operator } = BY_OPERATOR

    const invocation = { requestId: 'r-1', recorded: () => {} }
    const answer = await triggerSettlement({ ...small, invocation }, { clientId: client.clientId, operator })
    await workedOff(small)

    expect(answer).toMatchObject({ settlements: [], summedUntil: expect.any(String) })
    const [settlement] = await settlementsOf(deps, client)
    expect(settlement).toMatchObject({ ...ALL_FIVE, triggeredBy: 'manual' })
    expect(await listAuditRecords(deps, settlement?.settlementId ?? '')).toMatchObject([{ operator, requestId: 'r-1' }])
  })

  it('is not read from its beginning again while it waits below the floor', async ({ deps }) => {
    const client = await withFloor(deps, 600_000)
    await fivePayments(deps, client)
    const small = inSteps(deps, 1, 100)
    await settle(small, client)
    await fivePayments(deps, client)
    const { deps: recorded, calls } = recordTable(small)

    const { settlements } = await settle(recorded, client)

    expect(settlements).toMatchObject([{ paymentCount: 10, netMinor: 10 * 95_900 }])
    const read = queriesIn(calls).filter(({ index }) => index === 'by-owner-paid')
    // One row a query, the last millisecond of the run before once more, and the end of the index.
    expect(read).toHaveLength(7)
  })

  it('goes on behind what another run has kept meanwhile, and counts no row twice', async ({ deps, client }) => {
    await fivePayments(deps, client)
    const small = inSteps(deps)
    const overtaken = beforeFirst(small, 'put', () => settle(inSteps(deps, 1, 3), client))

    expect((await settle(overtaken, client)).settlements).toMatchObject([ALL_FIVE])

    await workedOff(small)
    expect(await settlementsOf(deps, client)).toHaveLength(1)
    await expectBalanced(deps, client.clientId)
  })

  it('may be recorded shorter than another run has summed it', async ({ deps, client }) => {
    await fivePayments(deps, client, { providerSettledAt: deps.now() })
    // A machine two milliseconds behind records, just as one that is not has kept its sums.
    const behind = { ...deps, now: () => addMs(deps.now(), -2) }
    const overtaken = beforeFirst(behind, 'transact', () => settle(inSteps(deps, 1, 3), client))

    const [settlement] = (await settle(overtaken, client)).settlements

    const { settlementId = '', periodEnd = '' } = settlement ?? {}
    const kept = await rawItem(deps, windowProgressKey(client.clientId, firstWindowStart(client)))
    expect(String(kept['until']) > periodEnd).toBe(true)
    expect(settlement).toMatchObject({ paymentCount: 3 })
    const statement = await settlementStatement(deps, { settlementId, cursor: undefined, format: 'json' })
    expect(statement).toMatchObject({ provider_settled_minor: 3 * 96_000, provider_unsettled_minor: 0 })
    expect((await settle(deps, client)).settlements).toMatchObject([{ paymentCount: 2 }])
    await expectBalanced(deps, client.clientId)
  })
})
