/**
 * Goal: whoever changes a row by hand is found out. Method: one client that has been through everything; each corruption
 * is made by writing rows directly, then undone; an audit of the whole client must name it. With
 * `npm test -- --table dynamodb` the rows are those of DynamoDB Local, written with the SDK's document client.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import { auditGateway } from '../../../shared/audit/audit-gateway.ts'
import { auditLedger } from '../../../shared/audit/audit-ledger.ts'
import { auditRecorded } from '../../../shared/audit/audit-recorded.ts'
import { slotOf } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import {
  auditHeadKey,
  auditRecordPk,
  clientKey,
  entryKey,
  eventKey,
  houseDayPk,
  type Key,
  paymentKey,
  settlementKey,
  shardKey,
  suspenseKey,
  verdictKey,
  windowKey,
} from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { type RawRow, rawRows } from './raw-rows.ts'
import { testDeps } from '../../support/test-deps.ts'
import { type AuditedHistory, auditedHistory } from './audited-history.ts'

let history: AuditedHistory
let rows: Awaited<ReturnType<typeof rawRows>>
beforeAll(async () => {
  history = await auditedHistory(testDeps())
  rows = await rawRows(history.deps)
}, 60_000)

const paymentCalled = (name: string) => {
  const payment = history.payments[name]
  if (payment === undefined) throw new Error(`there is no payment ${name}`)
  return payment
}

/** The key of the entry of a type that a payment has. */
const entryOf = async (name: string, type: string): Promise<Key> => {
  const payment = await findStoredPayment(history.deps, paymentCalled(name).paymentId)
  if (payment === undefined || payment.status === 'creating') throw new Error(`there is no payment ${name}`)
  const entry = entriesOf(payment).find((one) => one.type === type)
  if (entry === undefined) throw new Error(`${name} has no entry ${type}`)
  return entryKey(payment, entry)
}

const recordKeys = async (subject: string): Promise<readonly Key[]> =>
  (await rows.partition(auditRecordPk(subject))).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }))

const firstOf = (keys: readonly Key[]): Key => {
  const [key] = keys
  if (key === undefined) throw new Error('there is no such row')
  return key
}

const clientId = () => history.client.clientId
const shardOf = (name: string) => shardKey(clientId(), slotOf(paymentCalled(name).paymentId, LEDGER_SHARDS))
const settlement = (name: keyof AuditedHistory['settlements']) => history.settlements[name].settlementId

/** Rows as they were, to be put back. */
type Undo = () => Promise<void>

const change = async (key: Key, changes: RawRow): Promise<Undo> => {
  const before = await rows.read(key)
  await rows.write({ ...before, ...changes })
  return () => rows.write(before)
}

const add = async (key: Key, attribute: string, amount: number): Promise<Undo> => {
  const before = await rows.read(key)
  return change(key, { [attribute]: Number(before[attribute] ?? 0) + amount })
}

const lose = async (key: Key, attribute?: string): Promise<Undo> => {
  const before = await rows.read(key)
  if (attribute === undefined) await rows.remove(key)
  else await rows.write(Object.fromEntries(Object.entries(before).filter(([name]) => name !== attribute)))
  return () => rows.write(before)
}

/** A copy of a row under another key. */
const copy = async (key: Key, changes: RawRow): Promise<Undo> => {
  const forged = { ...(await rows.read(key)), ...changes }
  await rows.write(forged)
  return () => rows.remove({ pk: String(forged['pk']), sk: String(forged['sk']) })
}

const OTHER_ID = '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f'

/** Each with what an audit calls it. `daily`: found within one day, whatever is due. `gate`: what refuses the payout. */
const CORRUPTIONS: Readonly<Record<string, { make: () => Promise<Undo>; what: RegExp; daily?: true; gate?: RegExp }>> =
  {
    'a shard has one rupiah more': {
      make: () => add(shardOf('settledActual'), 'credited_minor', 1),
      what: /ledger\.credited_minor/,
      daily: true,
    },
    'a shard has one rupiah less': {
      make: () => add(shardOf('settledActual'), 'credited_minor', -1),
      what: /ledger\.credited_minor/,
      daily: true,
    },
    'a shard is lost': { make: () => lose(shardOf('settledActual')), what: /ledger_shard/, daily: true },
    'a shard counts one payment more': {
      make: () => add(shardOf('settledActual'), 'count_succeeded', 1),
      what: /ledger\.count_succeeded/,
    },
    'the net of a payment': {
      make: () => add(paymentKey(paymentCalled('settledActual').paymentId), 'net_minor', 1),
      what: /payment\.net_minor/,
    },
    'the fee of a payment': {
      make: () => add(paymentKey(paymentCalled('settledActual').paymentId), 'provider_fee_minor', -1),
      what: /entry\.fee_minor/,
    },
    'the status of a payment': {
      make: () => change(paymentKey(paymentCalled('settledActual').paymentId), { status: 'failed' }),
      what: /payment\.status/,
    },
    'when a payment was paid': {
      make: () => change(paymentKey(paymentCalled('settledActual').paymentId), { paid_at: '2026-11-20T03:00:00.000Z' }),
      what: /payment\.paid_at/,
    },
    'whose a payment is': {
      make: () => change(paymentKey(paymentCalled('settledActual').paymentId), { client_id: OTHER_ID }),
      what: /payment\.client_id/,
    },
    'the part of a payment': {
      make: () => change(paymentKey(paymentCalled('settledActual').paymentId), { part: 3 }),
      what: /payment\.owner|entry/,
    },
    'a settled payment is deleted': {
      make: () => lose(paymentKey(paymentCalled('settledAssumed').paymentId)),
      what: /entry\.payment_id/,
      gate: /do not balance/,
    },
    'an open payment is deleted': {
      make: () => lose(paymentKey(paymentCalled('estimated').paymentId)),
      what: /ledger\.credited_minor/,
      daily: true,
    },
    'a pending payment is deleted': {
      make: () => lose(paymentKey(paymentCalled('pending').paymentId)),
      what: /ledger\.count_pending/,
    },
    'a payment is forged as open': {
      make: () => copy(paymentKey(paymentCalled('estimated').paymentId), { pk: `PAYMENT#${OTHER_ID}`, id: OTHER_ID }),
      what: /ledger\.credited_minor|payment/,
      daily: true,
    },
    'a payment is doubled under another id': {
      make: () =>
        copy(paymentKey(paymentCalled('settledActual').paymentId), { pk: `PAYMENT#${OTHER_ID}`, id: OTHER_ID }),
      what: /entry|ledger\.count_succeeded/,
    },
    'an open payment loses its place in the index': {
      make: () => lose(paymentKey(paymentCalled('estimated').paymentId), 'open_at'),
      what: /ledger\.credited_minor/,
      daily: true,
    },
    'the event of a payment is deleted': {
      make: () => lose(eventKey(paymentCalled('estimated').paymentId, 'payment.succeeded')),
      what: /^event/,
    },
    'the event of a payment is altered': {
      make: async () => {
        const key = eventKey(paymentCalled('estimated').paymentId, 'payment.succeeded')
        const body = String((await rows.read(key))['body'])
        return change(key, { body: body.replace('"client_net_minor":', '"client_net_minor":1') })
      },
      what: /event\.data\.client_net_minor/,
    },
    'the net of an entry': {
      make: async () => add(await entryOf('settledActual', 'payment'), 'net_minor', 1),
      what: /entry\.net_minor/,
    },
    'a settled entry is deleted': {
      make: async () => lose(await entryOf('settledActual', 'payment')),
      what: /settlement\.entry_count|^entry/,
    },
    'an entry of the open tail is deleted': {
      make: async () => lose(await entryOf('refunded', 'refund')),
      what: /ledger\.credited_minor/,
      daily: true,
    },
    'an entry is added': {
      make: async () => {
        const key = await entryOf('settledActual', 'payment')
        return copy(key, { sk: key.sk.replace(/#.*/, `#${OTHER_ID}`) })
      },
      what: /^entry/,
    },
    'an entry is moved in time': {
      make: async () => {
        const key = await entryOf('refunded', 'payment')
        const before = await rows.read(key)
        const moved = { ...before, sk: key.sk.replace(/^20../, '2031') }
        await rows.remove(key)
        await rows.write(moved)
        return async () => {
          await rows.remove({ pk: key.pk, sk: String(moved.sk) })
          await rows.write(before)
        }
      },
      what: /entry/,
      daily: true,
    },
    'what was taken back of a payment': {
      make: () => add(paymentKey(paymentCalled('refunded').paymentId), 'taken_back_minor', -1),
      what: /payment\.taken_back_minor/,
    },
    'the rows that moved a payment': {
      make: async () => {
        const key = paymentKey(paymentCalled('refunded').paymentId)
        const [movement] = (await rows.read(key))['movements'] as readonly RawRow[]
        return change(key, { movements: [{ ...movement, amountMinor: 9_000 }] })
      },
      what: /payment\.movements|payment\.taken_back_minor/,
    },
    'the net of a settlement': {
      make: () => add(settlementKey(settlement('recorded')), 'net_minor', 1),
      what: /settlement\.net_minor/,
      gate: /do not balance/,
    },
    'the gross of a settlement': {
      make: () => add(settlementKey(settlement('recorded')), 'gross_minor', 1),
      what: /settlement\.gross_minor/,
      gate: /do not balance/,
    },
    'the number of payments of a settlement': {
      make: () => add(settlementKey(settlement('recorded')), 'payment_count', 1),
      what: /settlement\.payment_count/,
      gate: /do not balance/,
    },
    'the digest of a settlement': {
      make: () => change(settlementKey(settlement('recorded')), { digest: 'f'.repeat(64) }),
      what: /settlement\.digest/,
      gate: /do not balance/,
    },
    'the bank account of a settlement': {
      make: async () => {
        const { bank } = await rows.read(settlementKey(settlement('recorded')))
        return change(settlementKey(settlement('recorded')), {
          bank: { ...(bank as RawRow), bankAccountNo: '6660001' },
        })
      },
      what: /settlement\.bank/,
      gate: /do not balance/,
    },
    'a kept total of a settlement': {
      make: async () => {
        const { totals } = await rows.read(settlementKey(settlement('recorded')))
        const [first, ...more] = totals as readonly RawRow[]
        return change(settlementKey(settlement('recorded')), {
          totals: [{ ...first, grossMinor: Number(first?.['grossMinor']) + 1 }, ...more],
        })
      },
      what: /settlement\.totals/,
      gate: /do not balance/,
    },
    'a settlement is deleted': {
      make: () => lose(settlementKey(settlement('recorded'))),
      what: /^settlement$/,
      daily: true,
    },
    'a settlement is paid without a record': {
      make: () => change(settlementKey(settlement('recorded')), { status: 'manual_paid' }),
      what: /settlement\.mark-settlement-paid|window\.paid_out_minor/,
      daily: true,
    },
    'a paid settlement is recorded again': {
      make: () => change(settlementKey(settlement('paid')), { status: 'recorded' }),
      what: /settlement\.mark-settlement-paid|window\.paid_out_minor/,
      daily: true,
    },
    'what the window has available': {
      make: () => add(windowKey(clientId()), 'available_minor', 1),
      what: /window\.available_minor/,
      daily: true,
    },
    'what the window has in settlement': {
      make: () => add(windowKey(clientId()), 'in_settlement_minor', 1),
      what: /window\.in_settlement_minor/,
      daily: true,
    },
    'what the window has paid out': {
      make: () => add(windowKey(clientId()), 'paid_out_minor', 1),
      what: /window\.paid_out_minor/,
      daily: true,
    },
    'what the window has written off': {
      make: () => add(windowKey(clientId()), 'written_off_minor', 1),
      what: /window\.written_off_minor/,
      daily: true,
    },
    'until when the window is settled': {
      make: () => change(windowKey(clientId()), { settled_until: '2026-11-21T03:00:00.001Z' }),
      what: /window\.settled_until/,
      daily: true,
      gate: /do not balance/,
    },
    'money in suspense is halved': {
      make: () => change(suspenseKey(history.suspense.held), { amount_minor: 15_000 }),
      what: /suspense\.amount_minor/,
      daily: true,
    },
    'money in suspense is deleted': {
      make: () => lose(suspenseKey(history.suspense.held)),
      what: /^suspense$/,
      daily: true,
    },
    'money in suspense is resolved without a record': {
      make: () => change(suspenseKey(history.suspense.held), { status: 'resolved', resolution: 'written_off' }),
      what: /suspense\.resolution/,
      daily: true,
    },
    'resolved money in suspense is open again': {
      make: () => change(suspenseKey(history.suspense.refundedByBank), { status: 'open' }),
      what: /suspense\.(held_minor|resolution)/,
      daily: true,
    },
    'a house entry is removed': {
      make: async () => {
        const day = history.bookedOn.slice(0, 10)
        const [row] = (await rows.partition(houseDayPk(day))).filter(({ suspense_id: id }) => id === 'py-held')
        return lose({ pk: String(row?.['pk']), sk: String(row?.['sk']) })
      },
      what: /suspense\.posted_minor|house_total/,
      daily: true,
    },
    'an audit record is edited': {
      make: async () => change(firstOf(await recordKeys(settlement('paid'))), { operator: 'mallory' }),
      what: /audit_record/,
    },
    'an audit record is removed': {
      make: async () => lose(firstOf(await recordKeys(settlement('paid')))),
      what: /audit_record/,
    },
    'an audit record is added': {
      make: async () => {
        const key = firstOf(await recordKeys(settlement('paid')))
        return copy(key, { sk: `${key.sk.slice(0, 24)}#${OTHER_ID}`, number: 9 })
      },
      what: /audit_record/,
    },
    'an audit record is renumbered': {
      make: async () => change(firstOf(await recordKeys(settlement('paid'))), { number: 7 }),
      what: /audit_record/,
    },
    'the head of a trail is lost': {
      make: () => lose(auditHeadKey(settlement('paid'))),
      what: /audit_record/,
    },
    'bank details change without a record': {
      make: async () => {
        const { bank } = await rows.read(clientKey(clientId()))
        return change(clientKey(clientId()), { bank: { ...(bank as RawRow), bankAccountNo: '6660001' } })
      },
      what: /client\.bank/,
      daily: true,
      gate: /do not balance/,
    },
  }

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

/** After how many days of audits it is told; undefined: never within a month. */
const daysUntilTold = async (): Promise<number | undefined> => {
  for (let day = 1; day <= A_MONTH; day++) if (await nextDayTells()) return day
  return undefined
}

const paid = () =>
  markSettlementPaid(withoutSleep(), {
    settlementId: settlement('recorded'),
    operator: 'ana',
    bankReference: 'BCA 9',
    notes: undefined,
    confirm: {},
  })

describe('a corruption by hand', () => {
  it('is not seen where there is none', async () => {
    await expectBalanced(history.deps, clientId())

    expect(await nextDayTells()).toBe(false)
  })

  it.each(Object.entries(CORRUPTIONS))('is found by an audit of the whole client: %s', async (_, { make, what }) => {
    const undo = await make()
    const found = await auditLedger(withoutSleep(), clientId()).finally(undo)

    expect(found.balanced).toBe(false)
    expect(found.differences.map((one) => one.what)).toContainEqual(expect.stringMatching(what))
    await expectBalanced(history.deps, clientId())
  })

  it.each(Object.entries(CORRUPTIONS))('is told by the daily audits: %s', async (_, { make, daily }) => {
    const begun = history.deps.now()
    const undo = await make()
    const days = await daysUntilTold().finally(undo)

    expect(days).toBeLessThanOrEqual(daily ? 1 : A_MONTH)
    expect(await nextDayTells()).toBe(false)
    // Events are kept for 90 days: no other corruption may come that late.
    await rows.remove(verdictKey(clientId()))
    history.deps.clock.set(begun)
  })

  it.each(Object.entries(CORRUPTIONS).filter(([, { gate }]) => gate))(
    'is not paid out: %s',
    async (_, { make, gate }) => {
      await auditRecorded(withoutSleep(), settlement('recorded'))
      const undo = await make()
      const refused = await paid()
        .then(() => undefined, String)
        .finally(undo)

      expect(refused).toMatch(gate ?? /never/)
    },
  )
})
