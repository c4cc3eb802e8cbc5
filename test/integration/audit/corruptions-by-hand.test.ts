/**
 * Goal: a row changed by hand is found. Method: one client that has been through everything; each corruption
 * is made by writing rows directly, then undone; an audit of the whole client must name it. With
 * `npm test -- --table dynamodb` the rows are those of DynamoDB Local, written with the SDK's document client.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import {
  auditClient,
  auditGateway,
  auditLedger,
  auditRecorded,
} from '../../../shared/audit/run-audits.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { auditHeadKey, verdictKey } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { notAccepted, readClientVerdict } from '../../../shared/verdict/client-verdict-store.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater } from '../../support/settlement-builders.ts'
import {
  add,
  type Corruption,
  change,
  clientId,
  clientRow,
  copy,
  entryRow,
  eventRow,
  history,
  houseRow,
  lose,
  makeHistory,
  paymentRow,
  recordRow,
  set,
  settlementRow,
  shardRow,
  suspenseRow,
  windowRow,
} from './audited-history.ts'

const OTHER_ID = '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f'
function forged() {
  return { pk: `PAYMENT#${OTHER_ID}`, id: OTHER_ID }
}
type Row = Readonly<Record<string, unknown>>
function otherBank({ bank }: Row) {
  return { bank: { ...Object(bank), bankAccountNo: '6660001' } }
}
function ninth({ sk }: Row) {
  return { sk: `${String(sk).slice(0, 24)}#${OTHER_ID}`, number: 9 }
}
const settledLater = { settled_until: '2026-11-21T03:00:00.001Z' }
const resolved = { status: 'resolved', resolution: 'written_off' }

const shard = shardRow('settledActual')
const entry = entryRow('settledActual', 'payment')
const refunded = entryRow('refunded', 'payment')
const recorded = settlementRow('recorded')
const held = suspenseRow('held')

const HALVED = set(held, { amount_minor: 15_000 })
const CREDITED = /ledger\.credited_minor/
const RECORD = /audit_record/

/**
 * A corruption, and its name in an audit of the whole client. `daily`: the audit finds it within one day in any case;
 * `gate`: it refuses the payout.
 */
type Case = readonly [
  what: string,
  Corruption,
  name: RegExp,
  found?: 'daily' | 'gate' | 'daily, gate',
]
const CORRUPTIONS: readonly Case[] = [
  ['a shard has one rupiah more', add(shard, 'credited_minor'), CREDITED, 'daily'],
  ['a shard is lost', lose(shard), /ledger_shard/, 'daily'],
  ['a shard counts one payment more', add(shard, 'count_succeeded'), /ledger\.count_succeeded/],

  ['a settled payment is deleted', lose(paymentRow('settledAssumed')), /entry\.payment_id/, 'gate'],
  ['an open payment is deleted', lose(paymentRow('estimated')), CREDITED, 'daily'],
  ['a pending payment is deleted', lose(paymentRow('pending')), /ledger\.count_pending/],
  [
    'a payment is forged as open',
    copy(paymentRow('estimated'), forged),
    /ledger\.credited_minor|payment/,
    'daily',
  ],
  [
    'an open payment leaves the index',
    set(paymentRow('estimated'), { open_at: undefined }),
    CREDITED,
    'daily',
  ],

  ['the event of a payment is deleted', lose(eventRow('estimated')), /^event/],

  ['the net of an entry', add(entry, 'net_minor'), /entry\.net_minor/],
  ['the method of an entry', set(entry, { method: 'qris' }), /^entry$/],
  ['a settled entry is deleted', lose(entry), /settlement\.entry_count|^entry/],
  ['an entry of the open tail is deleted', lose(entryRow('refunded', 'refund')), CREDITED, 'daily'],
  [
    'an entry is added',
    copy(entry, ({ sk }) => ({ sk: String(sk).replace(/#.*/, `#${OTHER_ID}`) })),
    /^entry/,
  ],
  [
    'an entry is moved',
    change(refunded, ({ sk }) => ({ sk: String(sk).replace(/^20../, '2031') })),
    /entry/,
    'daily',
  ],

  ['the net of a settlement', add(recorded, 'net_minor'), /settlement\.net_minor/, 'gate'],
  ['the bank account of a settlement', change(recorded, otherBank), /settlement\.bank/, 'gate'],
  ['a settlement cannot be read', set(recorded, { net_minor: 'much' }), /^settlement$/, 'daily'],
  ['a settlement is deleted', lose(recorded), /^settlement$/, 'daily'],

  [
    'what the window has available',
    add(windowRow, 'available_minor'),
    /window\.available_minor/,
    'daily',
  ],
  [
    'what the window has paid out is no number',
    set(windowRow, { paid_out_minor: 'much' }),
    /^ledger$/,
    'daily, gate',
  ],
  ['the window is lost', lose(windowRow), /^ledger$/, 'daily, gate'],
  [
    'until when the window is settled',
    set(windowRow, settledLater),
    /window\.settled_until/,
    'daily, gate',
  ],

  ['money in suspense is halved', HALVED, /suspense\.amount_minor/, 'daily'],
  [
    'money in suspense becomes a finding',
    set(held, { kind: 'finding' }),
    /suspense\.kind/,
    'daily',
  ],
  ['money in suspense is deleted', lose(held), /^suspense$/, 'daily'],
  [
    'money in suspense is resolved without a record',
    set(held, resolved),
    /suspense\.resolution/,
    'daily',
  ],
  [
    'resolved money is open again',
    set(suspenseRow('refundedByBank'), { status: 'open' }),
    /suspense\./,
    'daily',
  ],
  ['a house entry is removed', lose(houseRow), /suspense\.posted_minor|house_total/, 'daily'],

  ['an audit record is edited', set(recordRow, { operator: 'mallory' }), RECORD],
  ['an audit record is added', copy(recordRow, ninth), RECORD],
  [
    'the head of a trail is lost',
    lose(() => auditHeadKey(history.settlements.paid.settlementId)),
    RECORD,
  ],
  [
    'the beginning of a client',
    set(clientRow, { created_at: '2026-11-20T04:00:00.001Z' }),
    /swept_from/,
    'daily',
  ],
  [
    'bank details change without a record',
    change(clientRow, otherBank),
    /client\.bank/,
    'daily, gate',
  ],
]

beforeAll(() => makeHistory())

function withoutSleep() {
  return { ...history.deps, sleep: async () => {} }
}

const A_MONTH = 30

/** The audits of the next day, as the schedule starts them. Answers whether they raised an alert. */
async function nextDayAlerts(): Promise<boolean> {
  const deps = withoutSleep()
  aDayLater(history.deps)
  history.deps.published.length = 0
  await auditClient(deps, clientId())
  await auditGateway(deps)
  return history.deps.published.some(({ kind }) => kind === 'audit.imbalance')
}

/** After how many days of audits it is reported; undefined: never within a month. */
async function daysUntilAlert(): Promise<number | undefined> {
  for (let day = 1; day <= A_MONTH; day++) if (await nextDayAlerts()) return day
  return undefined
}

/** What is answered while the corruption lasts. */
async function during<Answer>(make: Corruption, act: () => Promise<Answer>): Promise<Answer> {
  const undo = await make()
  try {
    return await act()
  } finally {
    await undo()
  }
}

describe('a corruption by hand', () => {
  it('is not found in an intact table, whose audit takes no second look', async () => {
    const began = history.deps.now()
    await expectBalanced(history.deps, clientId())

    expect(history.deps.now()).toBe(began)
    expect(await nextDayAlerts()).toBe(false)
  })

  it.for(CORRUPTIONS)('is found by an audit of the whole client: %s', async ([, make, name]) => {
    const found = await during(make, () => auditLedger(withoutSleep(), clientId()))

    expect(found.balanced).toBe(false)
    expect(found.differences.map((one) => one.what)).toContainEqual(expect.stringMatching(name))
    await expectBalanced(history.deps, clientId())
  })

  it.for([
    ['audit-ledger', () => auditLedger(withoutSleep(), clientId())],
    ['the daily audit', nextDayAlerts],
  ] as const)(
    'of a client’s suspense, found by %s, is a difference of that client alone, until undone',
    async ([, audit]) => {
      const { clientId: other } = await aStoredClient(history.deps)
      const standing = async () =>
        notAccepted(await readClientVerdict(history.deps, clientId())).map(({ what }) => what)

      await during(HALVED, async () => {
        await audit()
        expect(await standing()).toContain('suspense.amount_minor')
        expect(await auditLedger(withoutSleep(), other)).toStrictEqual({
          balanced: true,
          differences: [],
        })
      })

      expect(await nextDayAlerts()).toBe(false)
      expect(await standing()).toStrictEqual([])
    },
  )

  it.for(CORRUPTIONS)('is reported by the daily audits: %s', async ([, make, , found]) => {
    const begun = history.deps.now()
    const days = await during(make, daysUntilAlert)

    expect(days).toBeLessThanOrEqual(found?.startsWith('daily') ? 1 : A_MONTH)
    expect(await nextDayAlerts()).toBe(false)
    // Events are kept for 90 days: no other corruption may come that late.
    await history.deps.table.write(remove(verdictKey(clientId()), exists))
    history.deps.clock.set(begun)
  })

  it.for(CORRUPTIONS.filter(([, , , found]) => found?.endsWith('gate')))(
    'is not paid out: %s',
    async ([, make]) => {
      const { settlementId } = history.settlements.recorded
      await auditRecorded(withoutSleep(), settlementId)
      const asked = {
        settlementId,
        operator: 'ana',
        bankReference: 'BCA 9',
        notes: undefined,
        confirm: {},
      }

      await during(make, () =>
        expect(markSettlementPaid(withoutSleep(), asked)).rejects.toThrow('do not balance'),
      )
    },
  )
})
