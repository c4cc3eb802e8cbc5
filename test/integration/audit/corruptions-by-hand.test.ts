/**
 * Goal: a row changed by hand is found. Method: one client that has been through everything; each
 * corruption is made by writing rows directly, then undone; an audit of the whole client must name
 * it. With `npm test -- --table dynamodb` the rows are those of DynamoDB Local, written with the
 * SDK's document client.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditGateway } from '../../../shared/audit/audit-gateway.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { verdictKey } from '../../../shared/table/keys.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { sampleOf } from '../../support/runs.ts'
import { aDayLater } from '../../support/settlement-builders.ts'
import { erase } from '../../support/tampering.ts'
import { CORRUPTIONS } from './corruption-cases.ts'
import type { Corruption } from './corruptions.ts'
import { history, historyClientId, makeHistory } from './history-places.ts'

beforeAll(() => makeHistory())

function withoutSleep() {
  return { ...history.deps, sleep: async () => {} }
}

const A_MONTH = 30

async function nextDayAlerts() {
  const deps = withoutSleep()
  aDayLater(history.deps)
  history.deps.published.length = 0
  await auditClient(deps, historyClientId())
  await auditGateway(deps)
  return history.deps.published.some(({ kind }) => kind === 'audit.imbalance')
}

/** Undefined: no alert within a month. */
async function daysUntilAlert() {
  for (let day = 1; day <= A_MONTH; day++) if (await nextDayAlerts()) return day
  return undefined
}

function payRecorded() {
  const { settlementId } = history.settlements.recorded
  return markSettlementPaid(withoutSleep(), {
    settlementId,
    operator: 'ana',
    bankReference: 'BCA 9',
  })
}

async function runCorrupted<Answer>(corrupt: Corruption, act: () => Promise<Answer>) {
  const undo = await corrupt()
  try {
    return await act()
  } finally {
    await undo()
  }
}

describe('a corruption by hand', () => {
  it('is not found in an intact table, whose audit takes no second look', async () => {
    const began = history.deps.now()
    await expectBalanced(history.deps, historyClientId())

    expect(history.deps.now()).toBe(began)
    expect(await nextDayAlerts()).toBe(false)
  })

  it.for(CORRUPTIONS)('is found by an audit of the whole client: %s', async ([, corrupt, name]) => {
    const found = await runCorrupted(corrupt, () => auditLedger(withoutSleep(), historyClientId()))

    expect(found.balanced).toBe(false)
    expect(found.differences.map(({ what }) => what)).toContainEqual(expect.stringMatching(name))
  })

  it.for(sampleOf(CORRUPTIONS, 4))(
    'is reported by the daily audits: %s',
    async ([, corrupt, , detection]) => {
      const startedAt = history.deps.now()
      const days = await runCorrupted(corrupt, daysUntilAlert)

      expect(days).toBeLessThanOrEqual(detection?.startsWith('daily') ? 1 : A_MONTH)
      expect(await nextDayAlerts()).toBe(false)
      // Events expire after 90 days, so each corruption begins on the same day.
      await erase(history.deps, verdictKey(historyClientId()))
      history.deps.clock.set(startedAt)
    },
  )

  it.for(CORRUPTIONS.filter(([, , , detection]) => detection?.endsWith('gate')))(
    'is not paid out: %s',
    async ([, corrupt]) => {
      history.deps.clock.advance(60)
      await auditGateway(withoutSleep())
      await auditLedger(withoutSleep(), historyClientId())

      await runCorrupted(corrupt, () => expect(payRecorded()).rejects.toThrow('do not balance'))
    },
  )

  it.for(CORRUPTIONS.filter(([, , , detection]) => detection?.endsWith('day')))(
    'is not paid out after the audits of the next day: %s',
    async ([, corrupt]) => {
      await runCorrupted(corrupt, async () => {
        await nextDayAlerts()
        await expect(payRecorded()).rejects.toThrow(/do not balance|client not found/)
      })
      await auditLedger(withoutSleep(), historyClientId())
    },
  )
})
