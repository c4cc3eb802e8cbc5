/** Goal: a settlement counts an entry that became visible after the sum once (design section 4). */
import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { closeHouseDays } from '../../../shared/journal/house-store.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { bookUnmatchedRow } from '../../../shared/posting/house-journal.ts'
import { entryAgainOf } from '../../../shared/settlement/return-payout.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { claimForBatch, findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import {
  entryKey,
  HOUSE_TOTALS_PK,
  houseEntryKey,
  type Key,
  paymentKey,
  settlementKey,
} from '../../../shared/table/keys.ts'
import { addMs, END_OF_TIME } from '../../../shared/time.ts'
import { adjustBalance, aHouseRow, entryKeyOf, entryOf } from '../../support/money-rows.ts'
import { anOpenPayment, aSucceededPayment } from '../../support/paid-builders.ts'
import { expectBalanced, expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aLoneClient,
  aSettledClient,
  bringBack,
  fail,
  inSteps,
  payOut,
  recredit,
  settledAmount,
  settlementsOf,
  sweepADayLater,
  sweptADayLater,
} from '../../support/settlement-builders.ts'
import { alter, alterSettlement, erase, putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeCommit,
  beforeFirst,
  interceptTable,
  type TableCall,
  type TestDeps,
  writesTo,
} from '../../support/test-deps.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { recount } from './torn-world.ts'

async function settleWithoutLate(deps: TestDeps, client: Client) {
  for (let at = 0; at < 2; at++) await aSucceededPayment(deps, client)
  deps.clock.advance(1)
  const latePayment = await aSucceededPayment(deps, client, { notionalMinor: 70_000 })
  const { settlement, items } = await sweepWithout(deps, client, entryKeyOf(latePayment))
  for (const item of items) await putRaw(deps, item)
  return { settlement, latePayment }
}

async function recreditAtWindowEnd(deps: TestDeps, settlement: Settlement) {
  deps.clock.set(settlement.sweptUntil)
  return recreditFailed(deps, settlement)
}

async function recreditFailed(deps: TestDeps, settlement: Settlement) {
  return recredit(deps, await fail(deps, settlement))
}

/** The entries of `keys` become visible after the settlement. */
async function sweepWithout(deps: TestDeps, client: Client, ...keys: Key[]) {
  const items = await Promise.all(keys.map((key) => rawItem(deps, key)))
  for (const key of keys) await erase(deps, key)
  return { settlement: await sweptADayLater(deps, client), items }
}

describe('recount-ledger: an entry that a recorded settlement does not count', () => {
  it('is counted by that settlement, whose payout is refused before', async ({ deps, client }) => {
    const { settlement, latePayment } = await settleWithoutLate(deps, client)
    await expect(payOut(deps, settlement)).rejects.toMatchObject({ code: 'validation' })

    await recount(deps, client)

    await expectBalanced(deps, client)
    const paidOutMinor = settlement.netMinor + latePayment.netMinor
    expect(await payOut(deps, settlement)).toMatchObject({ netMinor: paidOutMinor, entryCount: 3 })
    expect(await sweepADayLater(deps, client)).toBeUndefined()
    const sums = { availableMinor: 0, inSettlementMinor: 0, paidOutMinor }
    expect(await readWindow(deps, client.clientId)).toMatchObject(sums)
  })

  it('that is a write-off counts once among the write-offs', async ({ deps, client }) => {
    await adjustBalance(deps, client, 'correction', -50_000)
    const { entry } = await adjustBalance(deps, client, 'written_off', 10_000)
    await aSucceededPayment(deps, client)
    const { items } = await sweepWithout(deps, client, entryKey(client.clientId, entry))
    for (const item of items) await putRaw(deps, item)

    await recount(deps, client)

    await expectBalanced(deps, client)
    expect(await readWindow(deps, client.clientId)).toMatchObject({ writtenOffMinor: 10_000 })
  })

  it('is counted one after another, and after a failed transfer, before a re-credit', async ({
    deps,
    client,
  }) => {
    await aSucceededPayment(deps, client)
    const lateKeys = [
      entryKeyOf(await aSucceededPayment(deps, client)),
      entryKeyOf(await aSucceededPayment(deps, client)),
    ]
    const { settlement, items } = await sweepWithout(deps, client, ...lateKeys)
    await fail(deps, settlement)

    for (const item of items) {
      await putRaw(deps, item)
      // The figures that counted an invisible entry follow in a second round.
      for (let round = 0; round < 2; round++) await recount(deps, client)
    }

    await expectBalanced(deps, client)
    await recredit(deps, settlement)
    expect(await sweptADayLater(deps, client)).toMatchObject({ paymentCount: 3 })
  })

  it.each([
    ['paid out', payOut],
    ['re-credited', recreditFailed],
  ])('never changes the sums of a settlement that is %s', async (_, end) => {
    const { deps, client, settlement } = await aSettledClient()
    const { settlementId: id } = settlement
    await end(deps, settlement)
    await alterSettlement(deps, settlement, { entry_count: 9, digest: 'changed' })

    const { not_repairable: named } = await recount(deps, client)

    expect(named).toContainEqual(expect.objectContaining({ id }))
    expect(await findAnySettlement(deps, id)).toMatchObject({ entryCount: 9, digest: 'changed' })
  })

  it('is counted again when the net of the settlement was altered', async ({
    deps,
    client,
    settlement,
  }) => {
    await alterSettlement(deps, settlement, { net_minor: settlement.netMinor - 1 })

    expect(await recount(deps, client)).toMatchObject({ left: [], not_repairable: [] })
  })

  it('is left while another entry of the settlement differs from its payment', async () => {
    const { deps, client } = await aLoneClient()
    const { settlement } = await settleWithoutLate(deps, client)
    const other = await aSucceededPayment(deps, client)
    const at = addMs(settlement.sweptUntil, -1)
    const sk = `${at}#${entryOf(other).entryId}`
    await alter(deps, entryKeyOf(other), { sk, eligible_at: at })

    const { not_repairable: named } = await recount(deps, client)

    const expected = `one of payment ${other.paymentId}`
    expect(named).toContainEqual(expect.objectContaining({ what: 'entry', expected }))

    const { settlementId, netMinor, digest } = settlement
    expect(await findAnySettlement(deps, settlementId)).toMatchObject({ netMinor, digest })
  })

  it('is carried by a re-credit that read the sums before the recount', async ({
    deps,
    client,
  }) => {
    await aSucceededPayment(deps, client)
    const latePayment = await aSucceededPayment(deps, client)
    const { settlement, items } = await sweepWithout(deps, client, entryKeyOf(latePayment))
    await fail(deps, settlement)
    const raced = beforeFirst(deps, writesTo(settlementKey(settlement.settlementId)), async () => {
      for (const item of items) await putRaw(deps, item)
      await recount(deps, client)
    })

    await recredit(raced, settlement)

    const availableMinor = settlement.netMinor + latePayment.netMinor
    const sums = { availableMinor, inSettlementMinor: 0 }
    expect(await readWindow(deps, client.clientId)).toMatchObject(sums)
  })

  it('is not counted when a payout batch claims the settlement meanwhile', async () => {
    const { deps, client } = await aLoneClient()
    const { settlement } = await settleWithoutLate(deps, client)
    const raced = beforeCommit(deps, () => deps.table.write(claimForBatch(settlement, 1)))

    await recount(raced, client)

    expect(await last(deps, client)).toMatchObject({ netMinor: settlement.netMinor, batch: 1 })
  })

  it.for([
    ['another recount counts it', recount],
    ['the transfer is marked failed', async (deps, client) => fail(deps, await last(deps, client))],
  ] satisfies [string, (deps: TestDeps, client: Client) => Promise<unknown>][])(
    'is counted once when %s meanwhile',
    async ([, meanwhile], { deps, client }) => {
      const { settlement, latePayment } = await settleWithoutLate(deps, client)
      const raced = beforeCommit(deps, () => meanwhile(deps, client))

      expect((await recount(raced, client)).left).not.toStrictEqual([])

      await recount(deps, client)
      const inSettlementMinor = settlement.netMinor + latePayment.netMinor
      expect(await readWindow(deps, client.clientId)).toMatchObject({ inSettlementMinor })
    },
  )
})

it('a recount says when its answer may have no room for all', async () => {
  const { deps, client } = await aLoneClient()
  const item = await rawItem(deps, entryKeyOf(await aSucceededPayment(deps, client)))
  const [at = ''] = String(item['sk']).split('#')
  for (let copies = 0; copies < 1_001; copies++)
    await putRaw(deps, { ...item, sk: `${at}#${crypto.randomUUID()}` })
  // Each part of the audit keeps 1,000. This payment is in another part than these entries.
  await alter(deps, paymentKey((await anOpenPayment(deps, client)).paymentId), {
    listed_at: '1970-01-02',
  })

  const { not_repairable: named, more } = await recount(deps, client)

  expect([named.length, more]).toStrictEqual([1_000, expect.stringContaining('may be more')])
})

it.for([
  ['re-credit', 'waits for', recreditFailed],
  ['re-credit', 'is in', recreditFailed],
  ['re-credit', 'is the first of', recreditAtWindowEnd],
  ['return', 'is in', async (deps, settlement) => bringBack(deps, await payOut(deps, settlement))],
] satisfies [string, string, (deps: TestDeps, settlement: Settlement) => Promise<unknown>][])(
  'a recount puts the lost entry of a %s again, which %s the next settlement',
  async ([, place, end], { deps, client, settlement }) => {
    await end(deps, settlement)
    const entry = entryAgainOf(await findAnySettlement(deps, settlement.settlementId))
    if (entry === undefined) throw new Error('no entry')
    const key = entryKey(client.clientId, entry)
    if (place === 'is in') await settledAmount(deps, client)
    await erase(deps, key)

    expect((await recount(deps, client)).not_repairable).toStrictEqual([])
  },
)

it('a settlement keeps what a payment has lost that another call reads', async ({
  deps,
  client,
}) => {
  const payment = await aSucceededPayment(deps, client)
  const settlement = await settledAmount(deps, client)
  await erase(deps, entryKeyOf(payment))
  const day = `payments ${payment.createdAt.slice(0, 10)}`

  for (const part of [{ until: day }, { from: day }]) await recount(deps, client, part)

  await expectBalanced(deps, client)
  expect(await last(deps, client)).toMatchObject({ netMinor: settlement.netMinor })
})

it('an adjustment gets its lost entries back after their day is closed', async () => {
  const { deps, client } = await aLoneClient()
  const row = aHouseRow(deps, 'txn', 0)
  await bookUnmatchedRow(deps, row)
  const { entry } = await adjustBalance(deps, client, 'correction', -50, 'A-1', 'txn')
  const house = houseEntryKey(row.rowAt.slice(0, 10), 'txn', 'correction')
  for (const key of [entryKey(client.clientId, entry), house]) await erase(deps, key)
  await sweepADayLater(deps, client)
  await closeHouseDays(deps)

  for (const subject of ['gateway', client] as const) await recount(deps, subject)

  expect(deps.stored.items(HOUSE_TOTALS_PK).filter(({ closed }) => !closed)).toHaveLength(1)
  await expectBalanced(deps, client)
  await expectHouseBalanced(deps)
})

it('a recount repairs the rest when it has no time to search for a lost entry', async () => {
  const { deps, client } = await aSettledClient()
  const payment = await aSucceededPayment(deps, client)
  const { entry } = await adjustBalance(deps, client, 'correction', 5_000, 'A-1')
  for (const key of [entryKey(client.clientId, entry), entryKeyOf(payment)]) await erase(deps, key)
  deps.clock.advance(120)
  const whole = JSON.stringify({ between: [client.createdAt, END_OF_TIME] })
  const before = (call: TableCall) =>
    'query' in call && JSON.stringify(call.query.range) === whole && deps.clock.advance(600)

  expect(await recount(inSteps(interceptTable(deps, { before })), client)).toMatchObject({
    written: [{ subject: payment.paymentId }],
    left: [{ id: 'A-1' }, { id: client.clientId }],
  })
})

async function last(deps: TestDeps, client: Client) {
  const [settlement] = await settlementsOf(deps, client)
  if (settlement === undefined) throw new Error('the client has no settlement')
  return settlement
}
