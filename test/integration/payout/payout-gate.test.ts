import { describe, expect, test } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditGateway, auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { houseEntryKey, verdictKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, dayNumber, HOUR_MS, MINUTE_MS } from '../../../shared/time.ts'
import { fileOf } from '../../support/batch-builders.ts'
import { OPERATOR } from '../../support/operator-actions.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aSettledClient,
  auditedNow,
  fail,
  payOut,
  recredit,
  settledAmount,
  sweptNow,
  withoutSleep,
} from '../../support/settlement-builders.ts'
import { alter, erase, putRaw } from '../../support/tampering.ts'
import { failingOn, type TestDeps } from '../../support/test-deps.ts'
import { moveWindow } from './moved-window.ts'
import { aRecordedSettlement, auditedTest as it } from './recorded-settlement.ts'

/**
 * Goal: no settlement is paid out that differs from its entries, lacks a fresh audit, or has an
 * entry that was paid out before, because a window was changed.
 */

describe('the payout gate (design section 11) and time', () => {
  it('pays out a minute after the record, a new client of a new stage too', async () => {
    const { deps, client, settlement, pay, status } = await aRecordedSettlement()
    await auditGateway(withoutSleep(deps))
    const retryAt = addMs(settlement.createdAt, MINUTE_MS)

    const refusal = await pay()
    deps.clock.set(retryAt)

    expect(refusal).toMatchObject({ status: 422, body: { code: 'validation', retry_at: retryAt } })
    expect(await pay()).toMatchObject({ status: 200, body: { status: 'manual_paid' } })
    expect(await status()).toBe('manual_paid')
    await expectBalanced(deps, client.clientId)
  })

  const AN_HOUR_AGO = (deps: TestDeps) => addMs(deps.now(), -HOUR_MS)

  it.for<[string, 'client' | 'gateway', (deps: TestDeps) => object | undefined, string]>([
    [
      'its client was last audited 27 hours ago',
      'client',
      (deps) => ({ figures_at: addMs(deps.now(), -27 * HOUR_MS) }),
      'client',
    ],
    [
      'the verdict of its client is from the future',
      'client',
      (deps) => ({ figures_at: addMs(deps.now(), DAY_MS) }),
      'client',
    ],
    ['the verdict of its client is lost', 'client', () => undefined, 'client'],
    [
      'the history of its client waits for four days',
      'client',
      (deps) => ({ history_day: dayNumber(deps.now()) - 4 }),
      'client',
    ],
    ['the gateway was never audited', 'gateway', () => undefined, 'gateway'],
    [
      'the table was restored after the audits',
      'gateway',
      (deps) => ({ restored_at: deps.now(), figures_at: AN_HOUR_AGO(deps) }),
      'both',
    ],
  ])(
    'refuses while %s, and names the command that helps',
    async ([, owner, fields, audited], { world }) => {
      const { deps, client, pay, status } = world
      const key = verdictKey(owner === 'client' ? client.clientId : 'gateway')
      const changed = fields(deps)
      if (changed === undefined) await erase(deps, key)
      else await alter(deps, key, changed)
      const hint = audited === 'client' ? ` --client_id ${client.clientId}` : '.'

      const refusal = await pay()
      deps.clock.advance(1)
      if (audited !== 'client') await auditWholeGateway(withoutSleep(deps))
      if (audited === 'both') expect(await pay()).toMatchObject({ status: 422 })
      if (audited !== 'gateway') await auditLedger(withoutSleep(deps), client.clientId)

      const body = { action_hint: expect.stringContaining(`audit-ledger${hint}`) as unknown }
      expect(refusal).toMatchObject({ status: 422, body })
      expect(await status()).toBe('recorded')
      expect(await pay()).toMatchObject({ status: 200 })
    },
  )

  it('refuses after 26 hours without the schedule of audits, and pays after audit-ledger', async ({
    deps,
    client,
    pay,
  }) => {
    deps.clock.advance(26 * 3_600 + 1)
    const refusal = await pay()
    await auditLedger(withoutSleep(deps), client.clientId)
    const secondRefusal = await pay()
    await auditGateway(withoutSleep(deps))

    expect([refusal, secondRefusal]).toMatchObject([{ status: 422 }, { status: 422 }])
    expect(await pay()).toMatchObject({ status: 200 })
  })

  it('pays out while the audit of another client fails, and a row of the house is unreadable', async ({
    deps,
    client,
    pay,
  }) => {
    const other = await aSettledClient(deps)
    deps.clock.advance(60)
    await putRaw(deps, {
      ...houseEntryKey(deps.now().slice(0, 10), 'txn_1', 'topup'),
      amount: 'unreadable',
    })

    await expect(
      auditClient(failingOn(deps, 'put', 'before'), other.client.clientId),
    ).rejects.toThrow()
    await auditClient(withoutSleep(deps), client.clientId)
    const { balanced } = await auditWholeGateway(withoutSleep(deps))

    expect(balanced).toBe(false)
    expect(await pay()).toMatchObject({ status: 200 })
  })
})

const REFUSED = [{ reason: expect.stringContaining('do not balance') as unknown }]

test('a settlement that was extended over a later, paid one is not paid out', async () => {
  const { deps, client, settlement } = await aSettledClient()
  const paid = await settledAmount(deps, client, 100_000)
  await payOut(deps, paid)
  await moveWindow(deps, settlement, { sweptUntil: paid.sweptUntil })

  expect(await fileOf(withoutSleep(deps))).toMatchObject({ rows: [], leftOut: REFUSED })
})

test.each([
  ['before it', 'sweptFrom'],
  ['after it', 'sweptUntil'],
] as const)('a re-credit that was moved over the paid one %s is not paid out', async (_, end) => {
  const { deps, client, settlement: first } = await aSettledClient()
  const second = await settledAmount(deps, client, 100_000)
  const [paid, failed] = end === 'sweptFrom' ? [first, second] : [second, first]
  await payOut(deps, paid)
  await auditedNow(deps, failed)
  await fail(deps, failed)
  await recredit(deps, failed)
  deps.clock.advance(60)
  const { settlementId } = await sweptNow(deps, client)
  deps.clock.advance(61)
  await moveWindow(deps, failed, { [end]: paid[end] })

  const payout = { settlementId, operator: OPERATOR, bankReference: 'BCA17' }
  const overlap = expect.stringContaining('settlement.swept_from') as unknown
  await expect(markSettlementPaid(withoutSleep(deps), payout)).rejects.toMatchObject({
    details: { fieldErrors: { differences: expect.arrayContaining([overlap]) as unknown } },
  })
})
