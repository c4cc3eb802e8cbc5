import { describe, expect } from 'vitest'
import { houseTotals, newHouseEntry, putHouseEntry } from '../../../shared/journal/house-store.ts'
import { unmatchedLegs } from '../../../shared/journal/legs.ts'
import { minor } from '../../../shared/money.ts'
import { findAuditRecordsOfClient } from '../../../shared/operator/audit-record-store.ts'
import { adjustmentKey, type Key } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, type Timestamp } from '../../../shared/time.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { entriesIn } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aLoneClient } from '../../support/settlement-builders.ts'
import { pendingOf } from '../../support/synced-payment.ts'
import { erase } from '../../support/tampering.ts'
import { afterFirst, beforeCommit, type TestDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { APPROVER } from '../../support/with-approval.ts'

async function aWorld() {
  const { deps, client } = await aLoneClient()
  const { clientId } = client
  deps.clock.advance(60)
  const request = {
    client_id: clientId,
    kind: 'correction',
    amount_minor: 25_000,
    reference: 'BANK-1',
  }
  /** A correction under which the client owes 30,000. */
  const owe = () => adjustBalance(deps, { clientId }, 'correction', -30_000, 'DEBT')
  const adjust = (fields = {}, own: TestDeps = deps) =>
    invokeAdmin('adjust-ledger', own, { operator: OPERATOR, ...request, ...fields })
  const entries = () => entriesIn(deps, { clientId })
  return { deps, clientId, owe, adjust, entries, pendingSum: () => pendingOf(deps, { clientId }) }
}

const it = testWith(aWorld, 'deps', 'clientId', 'owe', 'adjust', 'entries', 'pendingSum')

function anUnclaimedRow(deps: TestDeps, fields: { rowAt?: Timestamp } = {}) {
  const row = {
    type: 'unmatched',
    transactionId: 'txn-1',
    rowAt: deps.now(),
    ...unmatchedLegs({ providerMinor: minor(-30_000) }),
  } as const
  return deps.table.transact(
    putHouseEntry(newHouseEntry({ ...row, postedAt: deps.now(), ...fields })),
  )
}

function refusal(status: number, message: string) {
  return { status, body: { message } }
}

const CORRECTION = { kind: 'correction', amount_minor: -25_000, provider_transaction_id: 'txn-1' }

describe('adjust-ledger (design section 10)', () => {
  it('books what a merchant paid back by bank', async ({
    deps,
    clientId,
    owe,
    adjust,
    entries,
    pendingSum,
  }) => {
    await owe()
    deps.clock.advance(60)

    const reply = await adjust({ kind: 'recovered', notes: 'transfer of 21 November' })

    const entry = (await entries()).at(-1)
    const referenceFields = {
      reference: 'BANK-1',
      provider_transaction_id: null,
      notes: 'transfer of 21 November',
    }
    const sides = {
      client_net_minor: 25_000,
      provider_minor: 0,
      bank_minor: 25_000,
      cost_minor: 0,
      other_minor: 0,
    }
    const entryFields = {
      id: entry?.entryId,
      client_id: clientId,
      type: 'recovered',
      posted_at: deps.now(),
    }
    expect(reply).toStrictEqual({
      status: 200,
      body: { ...entryFields, ...sides, ...referenceFields },
    })
    expect(entry).toMatchObject({
      grossMinor: 25_000,
      netMinor: 25_000,
      bankMinor: 25_000,
      eligibleAt: deps.now(),
    })
    expect(await pendingSum()).toBe(-5_000)
    const after = {
      kind: 'recovered',
      amount_minor: 25_000,
      entry_id: entry?.entryId,
      eligible_at: deps.now(),
      ...referenceFields,
      approved: expect.objectContaining({ operator: APPROVER, used_at: deps.now() }),
    }
    const record = { operator: OPERATOR, action: 'adjust-ledger', before: undefined, after }
    expect((await auditRecordsOf(deps, clientId)).at(-1)).toStrictEqual(record)
    const { rows } = await findAuditRecordsOfClient(deps, clientId, { page: 1, perPage: 2 })
    expect(rows).toContainEqual(expect.objectContaining({ after }))
  })

  it.for([
    ['written_off', 'written off'],
    ['recovered', 'paid back'],
  ])(
    'records as %s at most what the client owes, and takes back at most what was recorded',
    async ([kind, words], { owe, adjust, pendingSum }) => {
      await owe()
      const act = (reference: string, amount_minor: number) =>
        adjust({ kind, reference, amount_minor })

      expect(await act('A', 30_001)).toMatchObject(
        refusal(422, 'amount_minor: this client owes only 30000 IDR'),
      )
      expect(await act('B', 25_000)).toMatchObject({ status: 200 })
      expect(await act('C', 5_001)).toMatchObject(
        refusal(422, 'amount_minor: this client owes only 5000 IDR'),
      )
      expect(await act('D', -25_001)).toMatchObject(
        refusal(422, `amount_minor: this client has only 25000 IDR ${words}`),
      )
      expect(await act('E', -25_000)).toMatchObject({ status: 200 })
      expect(await act('F', -1)).toMatchObject({ status: 422 })
      expect(await pendingSum()).toBe(-30_000)
    },
  )

  it('decides again when another adjustment of the client came between', async ({
    deps,
    owe,
    adjust,
    pendingSum,
  }) => {
    await owe()
    const act = (reference: string, own?: TestDeps) =>
      adjust({ kind: 'recovered', reference, amount_minor: 20_000 }, own)
    let looks = 0
    // Of the approved call, after it has seen the debt.
    const raced = afterFirst(
      deps,
      ({ name }) => name === 'query' && ++looks === 2,
      () => act('A'),
    )

    expect(await act('B', raced)).toMatchObject(
      refusal(422, 'amount_minor: this client owes only 10000 IDR'),
    )
    expect(await pendingSum()).toBe(-10_000)
  })

  it('moves the provider leg of a row from the house into the correction', async ({
    deps,
    adjust,
    pendingSum,
  }) => {
    await anUnclaimedRow(deps, { rowAt: addMs(deps.now(), -398 * DAY_MS) })

    const { body } = await adjust(CORRECTION)

    expect(body).toMatchObject({
      client_net_minor: -25_000,
      provider_minor: -30_000,
      other_minor: -5_000,
    })
    const [day] = deps.now().split('T', 1)
    const { rows: totals } = await houseTotals(deps, { fromDay: day ?? '', untilDay: day ?? '' })
    expect(totals.reduce((sum, { providerMinor }) => sum + providerMinor, 0)).toBe(0)
    const correction = totals.find((total) => total.type === 'correction')
    expect(correction).toMatchObject({ providerMinor: 30_000, otherMinor: 30_000 })
    expect(await pendingSum()).toBe(-25_000)
  })

  it('answers the stored entry when the reference is reused, and writes nothing', async ({
    deps,
    adjust,
  }) => {
    await anUnclaimedRow(deps)
    const firstReply = await adjust(CORRECTION)
    expect(firstReply.status).toBe(200)
    deps.changes.length = 0
    deps.clock.advance(3_600)

    expect(await adjust({ ...CORRECTION, notes: 'asked twice' })).toStrictEqual(firstReply)
    expect(deps.changes).toStrictEqual([])
  })

  it('answers the stored entry to two concurrent operators', async ({ deps, adjust, entries }) => {
    const lower = { amount_minor: -25_000 }
    const raced = beforeCommit(deps, () => adjust(lower))

    expect(await adjust(lower, raced)).toStrictEqual(await adjust(lower))
    expect(await entries()).toHaveLength(1)
  })

  it.for([{ amount_minor: 25_001 }, { kind: 'recovered' }, { provider_transaction_id: 'x' }])(
    'refuses the same reference with other figures: %o',
    async (otherFields, { adjust, entries }) => {
      await adjust()

      expect(await adjust(otherFields)).toMatchObject({ status: 409, body: { code: 'conflict' } })
      expect(await entries()).toHaveLength(1)
    },
  )

  it.for([
    [{ amount_minor: 0 }, 'amount_minor: must not be 0'],
    [{ amount_minor: 1.5 }, 'amount_minor: must be an integer'],
    [{ amount_minor: -1_000_000_000_001 }, 'amount_minor: at most 1000000000000 either way'],
    [
      { amount_minor: -(10 ** 12), kind: 'written_off' },
      'amount_minor: this client has only 0 IDR written off',
    ],
    [
      { kind: 'recovered', provider_transaction_id: 'txn-1' },
      'provider_transaction_id: only with kind correction',
    ],
    [
      { reference: 'two words' },
      'reference: must be 1 to 100 printable ASCII characters without spaces',
    ],
  ] as const)('refuses %o', async ([fields, message], { adjust, entries }) => {
    expect(await adjust(fields)).toMatchObject(refusal(422, message))
    expect(await entries()).toStrictEqual([])
  })

  it('answers 404 for an unknown merchant and an unknown row', async ({ deps, adjust }) => {
    await anUnclaimedRow(deps, { rowAt: addMs(deps.now(), -500 * DAY_MS) })

    expect(await adjust({ client_id: crypto.randomUUID() })).toMatchObject({ status: 404 })
    expect(await adjust(CORRECTION)).toMatchObject(refusal(404, 'provider transaction not found'))
  })
})

describe('concurrent calls of adjust-ledger', () => {
  it('let only one of two corrections take over a row', async ({
    deps,
    clientId,
    adjust,
    entries,
    pendingSum,
  }) => {
    await anUnclaimedRow(deps)
    const raced = beforeCommit(deps, () => adjust(CORRECTION))

    expect(await adjust({ ...CORRECTION, reference: 'C-2' }, raced)).toMatchObject({
      body: { action_hint: expect.stringContaining('Book nothing more for it') },
    })

    expect([(await entries()).length, await pendingSum()]).toStrictEqual([1, -25_000])
    await expectBalanced(deps, { clientId })
  })

  it('answer "try again" while the entry of another call is not visible yet', async ({
    deps,
    adjust,
  }) => {
    await adjust()
    const get = async (key: Key) =>
      key.pk.startsWith('JOURNAL#') ? undefined : deps.table.get(key)

    const reply = await adjust({}, { ...deps, table: { ...deps.table, get } })

    expect(reply).toMatchObject(
      refusal(409, 'adjustment BANK-1 is being written right now; try again'),
    )
  })

  it('never overwrite an entry', async ({ deps, clientId, adjust, entries, pendingSum }) => {
    await adjust()
    await erase(deps, adjustmentKey(clientId, 'BANK-1'))

    expect(await adjust({ amount_minor: 1 })).toMatchObject(
      refusal(409, 'other changes of this ledger are in progress; try again'),
    )
    expect(await entries()).toMatchObject([{ netMinor: 25_000 }])
    expect(await pendingSum()).toBe(25_000)
  })
})
