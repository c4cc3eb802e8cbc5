import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { historyParts } from '../../shared/audit/client-parts.ts'
import { dueOn, type Part } from '../../shared/audit/due-parts.ts'
import { gatewayParts } from '../../shared/audit/gateway-parts.ts'
import { judgeRange } from '../../shared/audit/judge-parts.ts'
import { auditEvent } from '../../shared/audit/judged/audit-events.ts'
import { auditChain } from '../../shared/audit/judged/audit-figures.ts'
import { paymentRules } from '../../shared/audit/judged/derive-payment.ts'
import { bankOf, registeredBanks } from '../../shared/audit/judged/derive-settlement.ts'
import { rowDifferences } from '../../shared/audit/rows/row-differences.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { inTheirParts, readParts } from '../../shared/recount/find-differences.ts'
import { type Settlement } from '../../shared/settlement/settlement.ts'
import {
  addMs,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type Timestamp,
  timestampOf,
} from '../../shared/time.ts'
import { compare, confirmedDifferences, toValue } from '../../shared/verdict/difference.ts'
import { succeededPayment } from '../support/paid-builders.ts'
import { aClient } from '../support/payment-builders.ts'
import { memoryDeps } from '../support/test-deps.ts'

it.each([
  ['a thirtieth of the last days', 1, 19_999, [0, 30, 60, 90]],
  ['the days that it missed', 3, 19_997, [0, 1, 2, 30, 31, 32]],
  ['a share that it missed before its day was old', 15, 19_985, [104]],
  ['older days within 360', 1, 19_999, [360, 720]],
  ['nothing twice on a day', 0, 20_000, []],
  ['everything first', 800, undefined, [0, 7, 100, 101, 359, 700]],
  ['everything after a day that is not over', 800, 20_001, [0, 7, 100, 101, 359, 700]],
])('an audit reads %s', (_, count, historyDay, ages) => {
  const isDue = dueOn(20_000, historyDay)
  const due = Array.from({ length: 800 }, (_age, age) => age).filter((age) => isDue(20_000 - age))
  expect(due).toStrictEqual(expect.arrayContaining(ages))
  if (ages.length === 0) expect(due).toStrictEqual([])
  expect(due.filter((age) => age < 30)).toHaveLength(Math.min(count, 30))
  expect(due.filter((age) => age >= 360 && age < 720)).toHaveLength(Math.min(count, 360))
})

it.each([
  ['bank', { name: 'BCA', no: '17' }, { no: '17', name: 'BCA' }, { no: '18', name: 'BCA' }],
  ['movements', [{ a: 1, b: 2 }], [{ b: 2, a: 1 }], [{ b: 1, a: 2 }]],
  ['held', new Set(['a', 'b']), new Set(['b', 'a']), new Set(['a', 'c'])],
])('a difference of %s is the same in any order of its members', (name, one, same, other) => {
  const [first, again, later] = [one, same, other].map((value) =>
    rowDifferences('settlement', 'x', {}, { [name]: value }),
  )

  expect(again).toStrictEqual(first)
  expect(later).not.toStrictEqual(first)
})

const client = aClient()
const paidAt = addMs(client.createdAt, DAY_MS)
const payment = succeededPayment(client, { paidAt })
const early = addMs(payment.createdAt, -MINUTE_MS)
const [justBefore, justAfter] = [addMs(paidAt, -MINUTE_MS), addMs(paidAt, MINUTE_MS)]
const fee = { status: 'actual', feeMinor: payment.providerFeeMinor } as const
const now = addMs(paidAt, 10 * DAY_MS)
const tomorrow = addMs(now, DAY_MS)

it('thirty nights judge counts, both full trails, all batches and the suspense register once', async () => {
  const deps = memoryDeps()
  const keys: string[] = []
  for (let day = 20_000; day < 20_030; day++) {
    const verdict = { historyDay: day - 1, standing: [], longSettlements: {} } as never
    const ofClient = await historyParts(deps, client, verdict, day)
    keys.push(...[...ofClient, ...(await gatewayParts(deps, verdict, day))].map(({ key }) => key))
  }

  const shares = keys.filter((key) => /^(all|counts|noted|payout)/.test(key))
  expect([shares.length, new Set(shares).size]).toStrictEqual([63, 62])
})

it.each<[name: string, from: Timestamp, to: Timestamp, (time: Timestamp) => Partial<Payment>]>([
  [
    'expires_at',
    payment.createdAt,
    addMs(payment.createdAt, 366 * DAY_MS),
    (expiresAt) => ({ expiresAt }),
  ],
  ['cancel_requested_at', early, justAfter, (cancelRequestedAt) => ({ cancelRequestedAt })],
  [
    'expiry_started_at',
    justBefore,
    justAfter,
    (time) => ({ expiresAt: paidAt, expiryStartedAt: time }),
  ],
  [
    'provider_settled_at',
    addMs(payment.createdAt, -DAY_MS),
    tomorrow,
    (providerSettledAt) => ({ providerSettledAt }),
  ],
  ['final_fee', justBefore, addMs(now, MINUTE_MS), (at) => ({ finalFee: { ...fee, at } })],
  ['due_at', early, addMs(tomorrow, 2 * HOUR_MS), (dueAt) => ({ dueAt })],
  ['due_at', early, addMs(now, 2 * HOUR_MS), (dueAt) => ({ dueAt, expiresAt: paidAt })],
  ['due_at', early, addMs(tomorrow, 2 * HOUR_MS), (dueAt) => ({ dueAt, expiresAt: tomorrow })],
])('the %s of a payment is possible from %s to %s', (name, from, to, fieldsAt) => {
  const found = [addMs(from, -1), from, to, addMs(to, 1)].map((time) =>
    paymentRules({ ...payment, ...fieldsAt(time) }, now).map(({ what }) => what),
  )

  expect(found.map((names) => names.includes(`payment.${name}`))).toStrictEqual([
    true,
    false,
    false,
    true,
  ])
})

it('the attempt of a payment that was paid before it was shown may be older than a day', () => {
  const startedAt = addMs(payment.createdAt, -2 * DAY_MS)
  const providerAttempts = payment.providerAttempts.map((one) => ({ ...one, startedAt }))
  const found = [undefined, paidAt].map((expiresAt) =>
    paymentRules({ ...payment, expiresAt, providerAttempts }, now).map(({ what }) => what),
  )

  expect(found).toStrictEqual([[], ['payment.provider_attempts']])
})

it('a settlement of no time is a difference', () => {
  const ended = { sweptFrom: client.createdAt, sweptUntil: client.createdAt }

  expect(auditChain({ client, settlements: [{ settlement: ended }] } as never)).toMatchObject([
    { what: 'settlement.swept_until' },
  ])
})

function atMinute(minutes: number) {
  return timestampOf(Date.UTC(2026, 10, 2, 3, minutes))
}
const bank = { bank_name: 'BNI', bank_account_no: '99', bank_account_name: 'PT Baru' }
const otherBank = { ...bank, bank_account_no: '00' }
const since = atMinute(1)

function accountsAfter(...after: readonly object[]) {
  const records = after.map((fields, day) => ({ at: atMinute(1_440 * day), after: fields }))
  return registeredBanks(records as never)
}

function settlement(changes: number, entered: object, accountNo = '99'): Settlement {
  return {
    settlementId: 's',
    createdAt: atMinute(1_440 * (changes - 1) + 60),
    bank: { bankName: 'BNI', bankAccountNo: accountNo, bankAccountName: 'PT Baru', ...entered },
  } as never // What `bankOf` reads.
}

function isAsRegistered(one: Settlement, banks: Parameters<typeof bankOf>[1]) {
  return isDeepStrictEqual(bankOf(one, banks), one.bank)
}

const REGISTERED = { bank, bank_since: since, bank_is_change: true }
const ON_SETTLEMENT = { since, isChange: true }

it.each([
  ['is reported within', -1, 1],
  ['may be gone after', 0, 0],
])('a missing event %s ninety days from the end of its payment', (_, ms, reported) => {
  const at = addMs(payment.transitions.at(-1)?.at ?? payment.createdAt, 90 * DAY_MS + ms)

  const by = { clientId: client.clientId, now: at }
  expect(auditEvent(payment, { name: 'payment.succeeded', item: undefined }, by)).toHaveLength(
    reported,
  )
})

describe('the bank details of a settlement', () => {
  it('takes the account that was entered last, even if the clock of its operator was slow', () => {
    const records = [
      { at: atMinute(0), after: { ...REGISTERED, bank: otherBank } },
      { at: addMs(atMinute(0), -MINUTE_MS), after: REGISTERED },
    ]
    const accounts = registeredBanks(records as never)

    expect(isAsRegistered(settlement(1, ON_SETTLEMENT), accounts)).toBe(true)
    expect(isAsRegistered(settlement(1, ON_SETTLEMENT, '00'), accounts)).toBe(false)
  })

  it('takes the accounts of a minute later and of a quarter of an hour before, no others', () => {
    const accounts = registeredBanks([
      { at: atMinute(0), after: { ...REGISTERED, bank: otherBank } },
      { at: atMinute(60), after: REGISTERED },
    ] as never)
    const isAt = (createdAt: Timestamp, accountNo: string) =>
      isAsRegistered({ ...settlement(1, ON_SETTLEMENT, accountNo), createdAt }, accounts)

    expect([isAt(addMs(atMinute(59), -1), '99'), isAt(atMinute(59), '99')]).toStrictEqual([
      false,
      true,
    ])
    expect([isAt(atMinute(75), '00'), isAt(addMs(atMinute(75), 1), '00')]).toStrictEqual([
      true,
      false,
    ])
  })

  it.each([
    [
      'a time that no record has',
      settlement(2, { ...ON_SETTLEMENT, since: atMinute(2) }),
      accountsAfter(REGISTERED, REGISTERED),
    ],
    [
      'a first account as a replacement',
      settlement(1, ON_SETTLEMENT),
      accountsAfter({ ...REGISTERED, bank_is_change: false }),
    ],
  ])('finds %s', (_, recorded, accounts) => {
    expect(isAsRegistered(recorded, accounts)).toBe(false)
  })
})

it('a difference that remains after a recount stands under the part in which it was found', () => {
  const first = compare('payment.net_minor', 'id', 0, 1)
  const second = compare('payment.net_minor', 'id', 0, 2)
  const mayWait = compare('ledger.count_pending', 'id', 0, 1)
  const byPart = new Map(
    Object.entries({ first: [...first, ...mayWait], second, none: mayWait }).map(
      ([part, found]) => [part, found.map((one) => ({ ...one }))],
    ),
  )

  const standing = inTheirParts(byPart, [...first, ...second, ...mayWait])

  expect(Object.fromEntries(standing)).toStrictEqual({ first, second })
})

it('a difference shows a text of up to 200 characters, and a longer one by its digest', () => {
  const texts = [200, 201].map((length) => 'x'.repeat(length))
  expect(texts.map(toValue)).toStrictEqual([texts[0], expect.stringMatching(/^sha256 /)])
})

it('a third check of two figures counts with other gaps too, beside a steady one', async () => {
  let found = 0
  const gapsOf = (gap: number) =>
    [gap, gap, 1].flatMap((one, at) => compare('ledger.sum', `${at}`, 0, one))
  const judge = async () => gapsOf(++found)

  const differences = await confirmedDifferences({ sleep: async () => {} }, judge)

  expect(differences).toStrictEqual(gapsOf(3))
})

const differing = compare('ledger.credited_minor', 'client', 0, 1)

function partOf(state: unknown, count = 1) {
  const differences = Array.from({ length: count }, () => differing).flat()
  return { key: 'suspense', day: undefined, judge: async () => ({ differences, state }) }
}

it('a part that was not read to its end has no differences, and the next call begins with it, then after it', async () => {
  const parts = [partOf({ place: 'a' }), { ...partOf(undefined), key: 'house' }]
  const from = 'suspense'
  const judged = { byPart: new Map(), partial: new Map([[from, differing]]), next: from }
  expect(await judgeRange(parts)).toStrictEqual(judged)
  const passed = { ...judged, unread: from, next: 'house' }
  expect(await judgeRange(parts, { from })).toStrictEqual(passed)
  const { unread } = await readParts(memoryDeps(), parts, { from })
  expect(unread).toMatchObject({ left: [{ id: from }], next: 'house' })
  await expect(judgeRange(parts, { from: 'none' })).rejects.toThrow('no part')
})

it('a recount says of a part with a thousand differences that it may have more', async () => {
  const deps = memoryDeps()
  const left = async (count: number) =>
    (await readParts(deps, [partOf(undefined, count)], {})).unread.left.map(({ id }) => id)

  expect([await left(999), await left(1_000)]).toStrictEqual([[], ['suspense']])
})

it('a recount ends the part that it reads after nine minutes', async () => {
  let ms = 0
  const judge: Part['judge'] = async (_, isLate) => {
    const late = [9 * MINUTE_MS - 1, 9 * MINUTE_MS].map((time) => ((ms = time), isLate()))
    expect(late).toStrictEqual([false, true])
    return { differences: [], state: undefined }
  }
  const deps = { ...memoryDeps(), monotonicMs: () => ms }

  await readParts(deps, [{ ...partOf(undefined), judge }], {})
  expect.assertions(1)
})
