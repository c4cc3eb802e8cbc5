/**
 * Goal: a window that takes several runs ends in the settlement one run would make, whoever comes
 * between. Method: pages of one row and runs of one page, against what one run settles.
 */
import { describe, expect } from 'vitest'
import { handler as worker } from '../../../functions/queue/settle-client.ts'
import { type Client, firstWindowStart } from '../../../shared/client/client.ts'
import { listAuditRecords } from '../../../shared/operator/audit-record.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { settlementStatement } from '../../../shared/settlement/statement/settlement-statement.ts'
import { triggerSettlement } from '../../../shared/settlement/trigger-settlement.ts'
import { windowProgressKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst, queriesIn, recordTable } from '../../support/intercept-table.ts'
import {
  aDayLater,
  aSucceededPayment,
  BY_OPERATOR,
  inSteps,
  settle,
  settlementsOf,
  withFloor,
} from '../../support/settlement-builders.ts'
import { rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

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
