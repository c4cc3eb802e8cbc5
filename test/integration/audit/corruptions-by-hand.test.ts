/**
 * Goal: a row changed by hand is found. Method: one client that has been through everything; each
 * corruption is made by writing rows directly, then undone; an audit of the whole client must name
 * it. With `npm test -- --table dynamodb` the rows are those of DynamoDB Local, written with the
 * SDK's document client.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditGateway, auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import type { Timestamp } from '../../../shared/time.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { sampleOf } from '../../support/runs.ts'
import { aDayLater } from '../../support/settlement-builders.ts'
import { memoryDeps } from '../../support/test-deps.ts'
import { add, type Case, type Corruption, change, copy, lose, set } from './corruptions.ts'
import { MANY_ROWS } from './corruptions-of-many-rows.ts'
import {
  clientRow,
  entryRow,
  history,
  historyClientId,
  houseRow,
  makeHistory,
  moveHistory,
  notedRow,
  paymentRow,
  type Row,
  settlementRow,
  shardRow,
  suspenseRow,
  windowRow,
} from './history-places.ts'

const OTHER_ID = '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f'

const shard = shardRow('settledActual')
const refundedEntry = entryRow('refunded', 'payment')
const settledPayment = paymentRow('settledAssumed')
const openPayment = paymentRow('estimated')
const recordedSettlement = settlementRow('recorded')
const heldSuspense = suspenseRow('held')

const CREDITED_SUM = /ledger\.credited_minor/

const CORRUPTIONS: readonly Case[] = [
  ['a shard has one rupiah more', add(shard, 'credited_minor'), CREDITED_SUM, 'daily'],
  ['a shard is lost', lose(shard), /ledger_shard/, 'daily'],

  ['a settled payment is deleted', lose(settledPayment), /^entry$/, 'gate'],
  [
    'a settled payment belongs to another client',
    set(settledPayment, { owner: OTHER_ID }),
    /payment\.client_id/,
    'gate',
  ],
  [
    'a settled payment is listed before its client',
    set(settledPayment, { listed_at: '2001-02-03T04:05:06.007Z' }),
    /payment\.|entry\./,
    'daily',
  ],
  [
    'the digest of a settled payment fits no client',
    set(settledPayment, { key_digest: 'x' }),
    /payment\.key_digest/,
    'gate',
  ],
  ['a payment is moved', change(paymentRow('expired'), withLongerKey), /^payment$/],
  ['an open payment is deleted', lose(openPayment), CREDITED_SUM, 'daily'],
  [
    'a payment is forged as open',
    copy(openPayment, withForgedId),
    /ledger\.credited_minor|payment/,
    'daily',
  ],
  [
    'an open payment leaves the index',
    set(openPayment, { open_at: undefined }),
    CREDITED_SUM,
    'daily',
  ],

  [
    'the net of an entry is altered',
    add(entryRow('settledActual', 'payment'), 'net_minor'),
    /entry\.net_minor/,
  ],
  [
    'an entry of the open tail is deleted',
    lose(entryRow('refunded', 'refund')),
    CREDITED_SUM,
    'daily',
  ],
  [
    'an entry is moved',
    change(refundedEntry, ({ sk }) => ({ sk: String(sk).replace(/^20../, '2031') })),
    /entry/,
    'daily',
  ],
  ['an entry is copied', copy(refundedEntry, withLongerKey), /^entry$/, 'daily'],

  [
    'the net of a settlement is altered',
    add(recordedSettlement, 'net_minor'),
    /settlement\.net_minor/,
    'gate',
  ],
  [
    'the bank account of a settlement is altered',
    change(recordedSettlement, withOtherBank),
    /settlement\.bank/,
    'gate',
  ],
  [
    'a settlement cannot be read',
    set(recordedSettlement, { net_minor: 'much' }),
    /^settlement$/,
    'daily',
  ],
  ['a settlement is deleted', lose(recordedSettlement), /^settlement$/, 'daily'],

  [
    'the available sum of the window is altered',
    add(windowRow, 'available_minor'),
    /window\.available_minor/,
    'daily',
  ],
  [
    'the paid-out sum of the window is not a number',
    set(windowRow, { paid_out_minor: 'much' }),
    /^window$/,
    'daily, gate',
  ],
  ['the window is lost', lose(windowRow), /^window$/, 'daily, gate'],

  [
    'money in suspense is halved',
    set(heldSuspense, { amount_minor: 15_000 }),
    /suspense\.amount_minor/,
    'daily',
  ],
  [
    'money in suspense becomes a finding',
    set(heldSuspense, { kind: 'finding' }),
    /suspense\.kind/,
    'daily',
  ],
  [
    'money in suspense is credited to no payment',
    set(heldSuspense, { status: 'resolved', resolution: 'credited' }),
    /suspense\.status/,
    'daily',
  ],
  ['money in suspense is deleted', lose(heldSuspense), /^suspense$/, 'daily'],
  ['the register of suspense loses a row', lose(notedRow('held')), /^noted$/, 'daily'],
  ['the register of suspense is unreadable', set(notedRow('held'), { kind: 1 }), /noted/, 'daily'],
  [
    'money in suspense is resolved without a record',
    set(heldSuspense, { status: 'resolved', resolution: 'written_off' }),
    /suspense\.resolution/,
    'daily',
  ],
  [
    'resolved money is open again',
    set(suspenseRow('refundedByBank'), { status: 'open' }),
    /suspense\./,
    'daily',
  ],
  ['a house entry is removed', lose(houseRow), /suspense\.provider_minor|house_total/, 'daily'],

  [
    'bank details change without a record',
    change(clientRow, withOtherBank),
    /client\.bank/,
    'daily, gate',
  ],
  ...MANY_ROWS,
]

function withLongerKey({ sk }: Row) {
  return { sk: `${String(sk)}#` }
}

function withForgedId() {
  return { pk: `PAYMENT#${OTHER_ID}`, id: OTHER_ID }
}

function withOtherBank({ bank }: Row) {
  return { bank: { ...Object(bank), bankAccountNo: '6660001' } }
}

beforeAll(() => makeHistory())

const A_MONTH = 30

async function nextDayAlerts() {
  const { deps } = history
  aDayLater(deps)
  deps.published.length = 0
  await auditClient(deps, historyClientId())
  await auditGateway(deps)
  return deps.published.some(({ kind }) => kind === 'audit.imbalance')
}

/** Undefined: no alert within a month. */
async function daysUntilAlert() {
  for (let day = 1; day <= A_MONTH; day++) if (await nextDayAlerts()) return day
  return undefined
}

function payRecorded() {
  const { settlementId } = history.settlements.recorded
  return markSettlementPaid(history.deps, { settlementId, operator: 'ana', bankReference: 'BCA 9' })
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
    await expectBalanced(history.deps, { clientId: historyClientId() })

    expect(history.deps.now()).toBe(began)
    expect(await nextDayAlerts()).toBe(false)
  })

  it.for(CORRUPTIONS)('is found by an audit of the whole client: %s', async ([, corrupt, name]) => {
    const found = await runCorrupted(corrupt, () => auditLedger(history.deps, historyClientId()))

    expect(found.balanced).toBe(false)
    expect(found.differences.map(({ what }) => what)).toContainEqual(expect.stringMatching(name))
  })

  it.for(CORRUPTIONS.filter(([, , , detection]) => detection?.endsWith('gate')))(
    'is not paid out: %s',
    async ([, corrupt]) => {
      history.deps.clock.advance(60)
      await auditGateway(history.deps)
      await auditLedger(history.deps, historyClientId())

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
      // No standing difference refuses the next payout.
      expect((await auditLedger(history.deps, historyClientId())).balanced).toBe(true)
    },
  )
})

describe('the daily audits', () => {
  let audited: { readonly items: readonly StoredItem[]; readonly at: Timestamp }

  beforeAll(async () => {
    const deps = memoryDeps()
    await makeHistory(deps)
    // Only after whole audits the daily ones judge a share of the days each.
    await auditLedger(deps, historyClientId())
    await auditWholeGateway(deps)
    audited = { items: deps.stored.items(), at: deps.now() }
  })

  // Each on its own copy: audits write verdicts and close days, and events expire after 90 days.
  it.for(sampleOf(CORRUPTIONS, 4))('report: %s', async ([, corrupt, , detection]) => {
    const deps = memoryDeps({}, audited.items)
    deps.clock.set(audited.at)
    moveHistory(deps)
    const days = await runCorrupted(corrupt, daysUntilAlert)

    expect(days).toBeLessThanOrEqual(detection?.startsWith('daily') ? 1 : A_MONTH)
    expect(await nextDayAlerts()).toBe(false)
  })
})
