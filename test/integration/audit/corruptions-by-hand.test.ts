/**
 * Goal: a row changed by hand is found. Method: one client that has been through everything; each corruption
 * is made by writing rows directly, then undone; an audit of the whole client must name it. With
 * `npm test -- --table dynamodb` the rows are those of DynamoDB Local, written with the SDK's document client.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { auditClient, auditGateway, auditLedger, auditRecorded } from '../../../shared/audit/run-audits.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { verdictKey } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { notAccepted, readClientVerdict } from '../../../shared/verdict/client-verdict-store.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { type Corruption, clientId, history, makeHistory, set, suspenseRow } from './corruption-world.ts'
import { CORRUPTIONS } from './corruptions.ts'

beforeAll(() => makeHistory(), 60_000)

const withoutSleep = () => ({ ...history.deps, sleep: async () => {} })

const DAY_SECONDS = 86_400
const A_MONTH = 30

/** The audits of the next day, as the schedule starts them. Answers whether they told of something. */
const nextDayTells = async (): Promise<boolean> => {
  const deps = withoutSleep()
  history.deps.clock.advance(DAY_SECONDS)
  history.deps.published.length = 0
  await auditClient(deps, clientId())
  await auditGateway(deps)
  return history.deps.published.some(({ kind }) => kind === 'audit.imbalance')
}

/** After how many days of audits it is reported; undefined: never within a month. */
const daysUntilTold = async (): Promise<number | undefined> => {
  for (let day = 1; day <= A_MONTH; day++) if (await nextDayTells()) return day
  return undefined
}

const paid = () =>
  markSettlementPaid(withoutSleep(), {
    settlementId: history.settlements.recorded.settlementId,
    operator: 'ana',
    bankReference: 'BCA 9',
    notes: undefined,
    confirm: {},
  })

/** What is answered while the corruption lasts. */
const during = async <Answer>(make: Corruption, act: () => Promise<Answer>): Promise<Answer> => {
  const undo = await make()
  try {
    return await act()
  } finally {
    await undo()
  }
}

describe('a corruption by hand', () => {
  it('is not found in an intact table', async () => {
    await expectBalanced(history.deps, clientId())

    expect(await nextDayTells()).toBe(false)
  })

  it.for(CORRUPTIONS)('is found by an audit of the whole client: %s', async ([, make, name]) => {
    const found = await during(make, () => auditLedger(withoutSleep(), clientId()))

    expect(found.balanced).toBe(false)
    expect(found.differences.map((one) => one.what)).toContainEqual(expect.stringMatching(name))
    await expectBalanced(history.deps, clientId())
  })

  it('of one client’s suspense is not found by the audit of another client', async () => {
    const { clientId: other } = await aStoredClient(history.deps)
    const halved = set(suspenseRow('held'), { amount_minor: 15_000 })

    const found = await during(halved, () => auditLedger(withoutSleep(), other))

    expect(found).toStrictEqual({ balanced: true, differences: [] })
  })

  it.for(['audit-ledger', 'the daily audit'])(
    'of a client’s suspense, found by %s, stands on the client until it is gone',
    async (by) => {
      const halved = set(suspenseRow('held'), { amount_minor: 15_000 })
      const standing = async () =>
        notAccepted(await readClientVerdict(history.deps, clientId())).map(({ what }) => what)

      const found = await during(halved, async () => {
        if (by === 'audit-ledger') await auditLedger(withoutSleep(), clientId())
        else await nextDayTells()
        return standing()
      })

      expect(found).toContain('suspense.amount_minor')
      expect(await nextDayTells()).toBe(false)
      expect(await standing()).toStrictEqual([])
    },
  )

  it.for(CORRUPTIONS)('is reported by the daily audits: %s', async ([, make, , found]) => {
    const begun = history.deps.now()
    const days = await during(make, daysUntilTold)

    expect(days).toBeLessThanOrEqual(found?.startsWith('daily') ? 1 : A_MONTH)
    expect(await nextDayTells()).toBe(false)
    // Events are kept for 90 days: no other corruption may come that late.
    await history.deps.table.write(remove(verdictKey(clientId()), exists))
    history.deps.clock.set(begun)
  })

  it.for(CORRUPTIONS.filter(([, , , found]) => found?.endsWith('gate')))('is not paid out: %s', async ([, make]) => {
    await auditRecorded(withoutSleep(), history.settlements.recorded.settlementId)
    const refused = await during(make, () => paid().then(() => undefined, String))

    expect(refused).toMatch(/do not balance/)
  })
})
