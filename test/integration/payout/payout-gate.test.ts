import { describe, expect, test } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditGateway, auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { countFindings } from '../../../shared/payout/count-findings.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { finding, findingOfMovedMoney } from '../../../shared/suspense/record-suspense.ts'
import { noteSuspense } from '../../../shared/suspense/suspense-store.ts'
import { houseEntryKey, notedKey, suspenseKey, verdictKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, dayNumber, HOUR_MS, MINUTE_MS } from '../../../shared/time.ts'
import { expectFile } from '../../support/batch-builders.ts'
import { aFinding, aRefund } from '../../support/money-rows.ts'
import { OPERATOR } from '../../support/operator-actions.ts'
import { anOpenPayment, aSucceededPayment, post } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aLoneClient,
  aLonePayment,
  aSettledClient,
  fail,
  recredit,
  standingOf,
  sweptADayLater,
  sweptNow,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { alter, alterSettlement, erase, putRaw, rawItem } from '../../support/tampering.ts'
import { failingOn, memoryDeps, recordTable, type TestDeps } from '../../support/test-deps.ts'
import { besidePaid } from './moved-window.ts'
import { aRecordedSettlement, auditedTest as it } from './recorded-settlement.ts'

/**
 * Goal: no settlement is paid out that differs from its entries, lacks a fresh audit, or has an
 * entry that was paid out before, because a window was changed.
 */

describe('the payout gate (design section 11) and time', () => {
  it('pays out a minute after the record, a new client of a new stage too', async () => {
    const { deps, client, settlement, pay } = await aRecordedSettlement()
    await auditGateway(deps)
    const retryAt = addMs(settlement.createdAt, MINUTE_MS)

    const refusal = await pay()
    deps.clock.set(retryAt)

    expect(refusal).toMatchObject({ status: 422, body: { code: 'validation', retry_at: retryAt } })
    expect(await pay()).toMatchObject({ status: 200, body: { status: 'manual_paid' } })
    await expectBalanced(deps, client)
  })

  it.for<[string, 'client' | 'gateway', (deps: TestDeps) => object | undefined, string]>([
    [
      'the verdict of its client is from the future',
      'client',
      (deps) => ({ figures_at: addMs(deps.now(), DAY_MS) }),
      'client',
    ],
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
      (deps) => ({ restored_at: deps.now(), figures_at: addMs(deps.now(), -HOUR_MS) }),
      'both',
    ],
  ])(
    'refuses while %s, and names the command that helps',
    async ([, owner, fields, audited], { world }) => {
      const { deps, client, pay } = world
      const key = verdictKey(owner === 'client' ? client.clientId : 'gateway')
      const changed = fields(deps)
      if (changed === undefined) await erase(deps, key)
      else await alter(deps, key, changed)
      const hint = audited === 'client' ? ` --client_id ${client.clientId}` : '.'

      const refusal = await pay()
      deps.clock.advance(1)
      if (audited !== 'client') await auditWholeGateway(deps)
      if (audited === 'both') expect(await pay()).toMatchObject({ status: 422 })
      if (audited !== 'gateway') await auditLedger(deps, client.clientId)

      const body = { action_hint: expect.stringContaining(`audit-ledger${hint}`) }
      expect(refusal).toMatchObject({ status: 422, body })
      expect(await pay()).toMatchObject({ status: 200 })
    },
  )

  it('refuses after 26 hours without the schedule of audits, and pays after audit-ledger, with a history of three days ago', async ({
    deps,
    client,
    pay,
  }) => {
    deps.clock.advance(26 * 3_600 - 60)
    await alter(deps, verdictKey(client.clientId), { history_day: dayNumber(deps.now()) - 3 })
    expect(await pay({ dry_run: true })).toMatchObject({ status: 200 })
    deps.clock.advance(61)
    const refusal = await pay()
    await auditLedger(deps, client.clientId)
    const secondRefusal = await pay()
    await auditGateway(deps)

    expect([refusal, secondRefusal]).toMatchObject([{ status: 422 }, { status: 422 }])
    expect(await pay()).toMatchObject({ status: 200 })
  })

  it('pays out while the audit of another client fails, and a row of the house is unreadable', async ({
    deps,
    pay,
  }) => {
    const other = await aSettledClient(deps)
    await putRaw(deps, {
      ...houseEntryKey(deps.now().slice(0, 10), 'txn_1', 'topup'),
      amount: 'unreadable',
    })

    await expect(
      auditClient(failingOn(deps, 'put', 'before'), other.client.clientId),
    ).rejects.toThrow()
    const { balanced } = await auditWholeGateway(deps)

    expect(balanced).toBe(false)
    expect(await pay()).toMatchObject({ status: 200 })
  })
})

const REFUSED = [{ reason: expect.stringContaining('do not balance') }]

test('a settlement that was extended over a later, paid one is not paid out', async () => {
  const { deps, moveOver } = await besidePaid('sweptUntil')
  await moveOver()

  await expectFile(deps, { rows: [], leftOut: REFUSED })
})

test.each([
  ['before it', 'sweptFrom'],
  ['after it', 'sweptUntil'],
] as const)('a re-credit that was moved over the paid one %s is not paid out', async (_, end) => {
  const { deps, client, other: failed, moveOver } = await besidePaid(end)
  await fail(deps, failed)
  await recredit(deps, failed)
  const { settlementId } = await sweptNow(deps, client)
  deps.clock.advance(61)
  await moveOver()

  const payout = { settlementId, operator: OPERATOR, bankReference: 'BCA17' }
  const overlap = expect.stringContaining('settlement.swept_from')
  await expect(markSettlementPaid(deps, payout)).rejects.toMatchObject({
    details: { fieldErrors: { differences: expect.arrayContaining([overlap]) } },
  })
})

/**
 * Goal: the findings of a payout are counted in bounded memory, however many refunds its client
 * ever had, and as their ids name them.
 */
const MOVEMENTS = 2_001

it('each page of the register is counted before the next page is read', async () => {
  const made = memoryDeps()
  const client = await withoutFloor(made)
  const payment = await anOpenPayment(made, client)
  await post(made, payment)
  const settlement = await sweptADayLater(made, client)
  const now = made.now()
  for (let at = 0; at < MOVEMENTS; at++) {
    const refunded = { paymentId: crypto.randomUUID(), clientId: client.clientId }
    const row = aRefund(made, 1_000, `txn-${at}`)
    await made.table.write(noteSuspense(findingOfMovedMoney(refunded, row, row.amountMinor, now)))
  }
  for (const subject of ['first', 'txn-999999'])
    await made.table.write(noteSuspense(finding({ subject, cause: 'fee_changed', payment, now })))
  const { deps, calls } = recordTable(made)

  expect(await countFindings(deps, settlement)).toBe(2)

  expect(calls.map(({ name }) => name)).toStrictEqual(['query', 'get', 'query', 'query', 'get'])
})

it('a finding about a payment counts, whatever its row and its register say', async () => {
  const { deps, client, payment } = await aLonePayment()
  const settlement = await sweptADayLater(deps, client)
  const item = await aFinding(deps, {
    cause: 'amount_differs',
    subject: payment.paymentId,
    payment,
  })
  const counts: number[] = []
  for (const changes of [
    { payment_id: crypto.randomUUID() },
    { payment_id: undefined },
    { cause: 'fee_assumed' },
    { kind: 'money' },
  ]) {
    const changed = { ...(await rawItem(deps, notedKey(item))), ...changes }
    await putRaw(deps, changed)
    counts.push(await countFindings(deps, settlement))
  }

  const missing = { ...payment, paymentId: crypto.randomUUID() }
  await aFinding(deps, { cause: 'row_contradicts', payment: missing })
  counts.push(await countFindings(deps, settlement))

  expect(counts).toStrictEqual([1, 1, 1, 1, 2])
})

it('a finding of a payment that two re-credits carried counts', async () => {
  const { deps, client } = await aLoneClient()
  const failAgain = async () => {
    const failed = await sweptADayLater(deps, client)
    await fail(deps, failed)
    return failed
  }
  const payment = await aSucceededPayment(deps, client)
  const first = await failAgain()
  await aSucceededPayment(deps, client)
  const second = await failAgain()
  for (const failed of [first, second]) await recredit(deps, failed)
  await recredit(deps, await failAgain())
  const settlement = await sweptADayLater(deps, client)
  await aFinding(deps, { cause: 'amount_differs', subject: payment.paymentId, payment })

  expect(await countFindings(deps, settlement)).toBe(1)
  await alterSettlement(deps, first, { net_minor: 'x' })
  expect(await countFindings(deps, settlement)).toBe(1)
})

it('the gateway’s audit names a finding that names another payment than its id', async () => {
  const { deps, client, payment } = await aLonePayment()
  const { paymentId: subject } = payment
  const item = await aFinding(deps, { subject, cause: 'amount_differs', payment })
  for (const key of [suspenseKey(item.suspenseId), notedKey(item)])
    await alter(deps, key, { payment_id: crypto.randomUUID() })

  await auditGateway(deps)

  const standing = await standingOf(deps, client)
  const named = { what: 'suspense.payment_id', id: item.suspenseId, expected: subject }
  expect(standing).toContainEqual(expect.objectContaining(named))
})
