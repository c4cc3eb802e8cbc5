/** Goal: a recount writes what the audit expects, or nothing. */
import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { eraseCustomers } from '../../../shared/inquiry/erase-customers.ts'
import { bookDay } from '../../../shared/journal/day-totals.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { readAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { bookUnmatchedRow } from '../../../shared/posting/house-journal.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { clientKey, houseTotalKey, shardKey, windowKey } from '../../../shared/table/keys.ts'
import { GATEWAY_OWNER } from '../../../shared/table/schema.ts'
import { readVerdict } from '../../../shared/verdict/verdict-store.ts'
import { adjustBalance, aHouseRow, bookRefund, entryKeyOf } from '../../support/money-rows.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { anOpenPayment, aSucceededPayment, post } from '../../support/paid-builders.ts'
import { expectBalanced, expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater, aLoneClient, sweep } from '../../support/settlement-builders.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import { alter, changeRow, erase, loseRecords, putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeCommit,
  beforeFirst,
  type MemoryDeps,
  type TableCall,
  type TestDeps,
} from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { accept } from '../../support/with-approval.ts'
import { differencesOf, recount, removeEvent } from './torn-world.ts'

async function world() {
  const { deps, client } = await aLoneClient()
  const { payment } = await creditedPayment(deps, client, { customer: { name: 'Siti' } })
  return { deps, client, payment: await post(deps, payment) }
}

const it = testWith(world, 'deps', 'client', 'payment')

function addCredit(deps: MemoryDeps, { clientId }: Client, creditedMinor: number, shard = 3) {
  const change = { add: { creditedMinor }, set: { creditedAt: deps.now() } }
  return changeRow(deps, shardKey(clientId, shard), change)
}

/** Adds to a sum of the window, while several runs sum the window. */
function adding(sum: 'paidOutMinor' | 'writtenOffMinor') {
  return (deps: MemoryDeps, { clientId }: Client) =>
    changeRow(deps, windowKey(clientId), { add: { [sum]: 1 }, set: { progress: {} } })
}
const [addPaidOut, addWrittenOff] = [adding('paidOutMinor'), adding('writtenOffMinor')]

describe('recount-ledger', () => {
  it('writes the figures that the audit expects, all or none, with a record of the operator', async ({
    deps,
    client,
  }) => {
    await addSeven(deps, client)
    await addPaidOut(deps, client)
    const { writes = [], plan } = await planned(deps, client)
    expect(writes.map(({ repair }) => repair)).toStrictEqual(['figures'])
    expect(await differencesOf(deps, client)).toHaveLength(2)

    const answer = await planned(deps, client, plan)

    expect(answer).toMatchObject({ written: writes, left: [], not_repairable: [], complete: true })
    await expectBalanced(deps, client)
    expect(await readWindow(deps, client.clientId)).not.toHaveProperty('progress')
    const repaired = writes.flatMap(({ differences }) => differences)
    const record = { operator: 'ana', action: 'recount-ledger', after: { repaired } }
    expect((await readAuditRecords(deps, client.clientId)).records.at(-1)).toMatchObject(record)
  })

  it('hides no lost record: a new one follows the head of the chain', async ({ deps, client }) => {
    for (const isFirst of [true, false]) {
      await addSeven(deps, client)
      await recount(deps, client)
      if (isFirst) await loseRecords(deps, client.clientId, -1)
    }

    expect(await differencesOf(deps, client)).toMatchObject([{ what: 'audit_record' }])
  })

  it('answers 409 and writes nothing when the plan is another now', async ({ deps, client }) => {
    await addSeven(deps, client)
    const { plan } = await planned(deps, client)
    await addCredit(deps, client, 1)
    deps.changes.length = 0

    const again = planned(deps, client, plan)

    await expect(again).rejects.toMatchObject({ code: 'conflict' })
    expect(deps.changes).toStrictEqual([])
  })

  it('compares the gap, not the figures, while payments continue', async ({ deps, client }) => {
    await addCredit(deps, client, -7)
    // The shards may have changes of the last minute or not.
    deps.clock.advance(120)
    const { plan } = await planned(deps, client)
    await anOpenPayment(deps, client)
    deps.clock.advance(60)

    await planned(deps, client, plan)

    await expectBalanced(deps, client)
  })

  it('plans no figure while an entry is there that nothing explains', async ({
    deps,
    client,
    payment,
  }) => {
    const item = await rawItem(deps, entryKeyOf(payment))
    const sk = `${String(item['sk']).split('#')[0]}#${crypto.randomUUID()}`
    await putRaw(deps, { ...item, sk, gross_minor: 1, payment_id: undefined })
    deps.clock.advance(120)

    const { not_repairable: named, left, writes } = await planned(deps, client)

    expect(named).toContainEqual(expect.objectContaining({ what: 'entry' }))
    expect(left).toContainEqual(expect.objectContaining({ id: client.clientId }))
    expect(writes).toStrictEqual([])
  })

  it('plans nothing for what finance has accepted', async ({ deps, client }) => {
    await addPaidOut(deps, client)
    const [difference] = await differencesOf(deps, client)
    if (difference === undefined) throw new Error('the audit found nothing')
    await accept(deps, difference, client.clientId)

    expect(await planned(deps, client)).toMatchObject({ writes: [], not_repairable: [] })
  })

  it('reads newest first, and goes on where a call without time has ended', async ({
    deps,
    client,
    payment,
  }) => {
    deps.clock.advance(20 * 86_400)
    const newest = await aSucceededPayment(deps, client)
    for (const torn of [payment, newest]) await removeEvent(deps, client, torn)
    const ask = { clientId: client.clientId, operator: 'ana' }
    const repaired: unknown[] = []
    let from: string | undefined
    do {
      const { plan, next } = await recountLedger(slow(deps), { ...ask, from })
      const answer = await recountLedger(slow(deps), { ...ask, from, until: next, plan })
      expect(answer).toMatchObject({ plan, complete: true, left: [], not_repairable: [] })
      repaired.push((answer.written ?? []).map(({ subject }) => subject))
      from = next
    } while (from !== undefined)

    expect(repaired.length).toBeGreaterThan(2)
    expect(repaired.at(0)).toStrictEqual([newest.paymentId])
    expect(repaired.flat()).toStrictEqual([newest.paymentId, payment.paymentId])
    await expectBalanced(deps, client)
  })

  it.for([1, 0])(
    'lets an audit go on in the same way: %d',
    async (count, { deps, client, payment }) => {
      await removeEvent(deps, client, payment)
      const answers: unknown[] = []
      const days: string[] = []
      let from: string | undefined
      do {
        const ask = { ...(count && { client_id: client.clientId }), from }
        const { body } = await invokeAdmin('audit-ledger', slow(deps), ask)
        const { balanced, differences, next } = Object(body)
        answers.push([balanced, differences.length])
        if (/ 20/.test(next)) days.push(next)
        from = next
      } while (from !== undefined && answers.length < 99)

      expect(from).toBeUndefined()
      expect(answers.slice(0, -1)).toContainEqual(['inconclusive', 0])
      expect(answers).toContainEqual([count === 0, count])
      expect(days).toStrictEqual(days.toSorted().toReversed())
      // No single call has read all parts.
      expect(await readVerdict(deps, GATEWAY_OWNER)).not.toHaveProperty('figuresAt')
    },
  )
})

/** Each look at the clock costs 50 seconds. */
function slow(deps: MemoryDeps) {
  let readAt = 0
  return { ...deps, sleep: async () => {}, monotonicMs: () => (readAt += 50_000) }
}

function planned(deps: TestDeps, { clientId }: Client, plan?: string) {
  return recountLedger(deps, { clientId, plan, operator: 'ana' })
}

type Act = (deps: MemoryDeps, client: Client, payment: Payment) => Promise<unknown>

/** Removes the entry and its effect on the shards, so that no figure differs. */
async function removeEntry(deps: MemoryDeps, client: Client, payment: Payment) {
  await erase(deps, entryKeyOf(payment))
  await addCredit(deps, client, 0 - payment.netMinor)
}
function addSeven(deps: MemoryDeps, client: Client) {
  return addCredit(deps, client, 7)
}

it.for<[string, tear: Act, concurrentAct: Act]>([
  [
    'its shard is credited',
    addSeven,
    (deps, client) => adjustBalance(deps, client, 'correction', 5_000),
  ],
  ['its first shard is credited', addSeven, (deps, client) => addCredit(deps, client, 5, 0)],
  ['its window moves', addPaidOut, addPaidOut],
  ['more is written off', addWrittenOff, addWrittenOff],
  ['its payment is refunded', removeEntry, (deps, _, payment) => bookRefund(deps, payment, 1_000)],
  [
    'its customer is erased',
    removeEvent,
    (deps, _, { paymentId }) => eraseCustomers(deps, { paymentId }, 'ana'),
  ],
])(
  'a recount writes nothing when %s before its write; the next recount repairs the books',
  async ([, tear, concurrentAct], { deps, client, payment }) => {
    await tear(deps, client, payment)
    const overtaken = beforeCommit(deps, () => concurrentAct(deps, client, payment))

    expect((await recount(overtaken, client)).left).not.toStrictEqual([])

    await recount(deps, client)
    await expectBalanced(deps, client)
  },
)

it.for<[string, tear: Act, concurrentAct: Act]>([
  ['another recount', addSeven, (deps, client) => recount(deps, client)],
  [
    'a settlement',
    (deps, { clientId }) => changeRow(deps, windowKey(clientId), { add: { inSettlementMinor: 7 } }),
    sweep,
  ],
])(
  'a recount writes no figure that %s has moved during its audit',
  async ([, tear, concurrentAct], { deps, client, payment }) => {
    aDayLater(deps)
    await tear(deps, client, payment)
    const { plan } = await planned(deps, client)
    // What finance has accepted is read after all else.
    const isLast = (call: TableCall) =>
      'query' in call && String(call.query.partition[0]).includes('accepted:')
    const overtaken = beforeFirst(deps, isLast, () => concurrentAct(deps, client, payment))

    const writing = planned(overtaken, client, plan)

    await expect(writing).rejects.toMatchObject({ code: 'conflict' })
    await recount(deps, client)
    await expectBalanced(deps, client)
  },
)

it('a recount sets no total of the house to an altered entry', async ({ deps }) => {
  await bookUnmatchedRow(deps, aHouseRow(deps, 'txn-1', 5))
  const [entry] = deps.stored.items('JOURNAL#house')
  await putRaw(deps, { ...entry, provider_minor: 9_000 })

  const { written, not_repairable: named } = await recount(deps, 'gateway')

  expect(written).toStrictEqual([])
  expect(named.map(({ what }) => what)).toContain('house_total.provider_minor')
})

it('a recount keeps what only a later release knows, and closes no open day', async ({
  deps,
  client,
}) => {
  await bookUnmatchedRow(deps, aHouseRow(deps, 'txn-1', 5))
  const total = houseTotalKey(bookDay(deps.now()), 'unmatched')
  for (const key of [total, clientKey(client.clientId)]) await alter(deps, key, { colour: 'green' })

  for (const subject of ['gateway', client] as const)
    expect(await recount(deps, subject)).toMatchObject({ written: [], not_repairable: [{}] })

  await alter(deps, total, { closed: true, colour: undefined })
  await recount(deps, 'gateway')
  await expectHouseBalanced(deps)
})

it('a recount counts a row that the house books while its total is set', async ({ deps }) => {
  const book = (transactionId: string) => bookUnmatchedRow(deps, aHouseRow(deps, transactionId, 5))
  await book('txn-1')
  const total = houseTotalKey(bookDay(deps.now()), 'unmatched')
  await changeRow(deps, total, { add: { providerMinor: 7 } })
  deps.clock.advance(120)
  const { plan } = await recountLedger(deps, { operator: 'ana' })
  const isTotal = (call: TableCall) => call.name === 'get' && call.keys[0]?.sk === total.sk
  const overtaken = beforeFirst(deps, isTotal, () => book('txn-2'))

  await recountLedger(overtaken, { plan, operator: 'ana' })

  await expectHouseBalanced(deps)
})
