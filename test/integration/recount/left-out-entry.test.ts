/**
 * Goal: an entry that becomes visible after its window was summed is paid out once (design section 4). Method: the entry is
 * taken away before the sweep and put back after it, as a slow commit would have it.
 */
import { describe, expect } from 'vitest'
import { readClientBook } from '../../../shared/books/get-books.ts'
import type { Client } from '../../../shared/client/client.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import { settlementEntries } from '../../../shared/settlement/statement/settlement-entries.ts'
import { entryKey, type Key, windowKey } from '../../../shared/table/keys.ts'
import { exists, remove, update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { adjusted } from '../../support/money-rows.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { payOut, sweptADayLater } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, type TestDeps } from '../../support/test-deps.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { differencesOf, recount } from './recounted.ts'

/** A settlement of two payments, and a third one of its window that it does not have. */
const settledWithout = async (deps: TestDeps, client: Client) => {
  for (let at = 0; at < 2; at++) await aSucceededPayment(deps, client)
  deps.clock.advance(1)
  const late = await aSucceededPayment(deps, client, { notionalMinor: 70_000 })
  const { settlement, items } = await sweptWithout(deps, client, keysOf(late))
  for (const item of items) await putRaw(deps, item)
  return { settlement, late }
}

const keysOf = (payment: Payment): readonly Key[] => entriesOf(payment).map((entry) => entryKey(payment, entry))

/** A settlement of everything but these entries, which become visible after it. */
const sweptWithout = async (deps: TestDeps, client: Client, keys: readonly Key[]) => {
  const items = await Promise.all(keys.map((key) => rawItem(deps, key)))
  for (const key of keys) await deps.table.write(remove(key, exists))
  const settlement = await sweptADayLater(deps, client)
  return { settlement, items }
}

describe('recount-ledger: an entry outside its settlement', () => {
  it('is re-credited alone, and paid out by the next settlement', async ({ deps, client }) => {
    const { settlement, late } = await settledWithout(deps, client)

    await recount(deps, client)

    await expectBalanced(deps, client.clientId)
    expect(await readWindow(deps, client.clientId)).toMatchObject({ availableMinor: late.netMinor })
    await payOut(deps, settlement)
    const next = await sweptADayLater(deps, client)
    const { netMinor } = late
    expect(next).toMatchObject({ netMinor, recreditedMinor: netMinor, paymentCount: 1, unprovenMinor: 0 })
    await payOut(deps, next)
    const paidOut = { availableMinor: 0, inSettlementMinor: 0, paidOutMinor: settlement.netMinor + netMinor }
    expect(await readWindow(deps, client.clientId)).toMatchObject(paidOut)
  })

  it('is in the books once, and not in the statement of the settlement', async ({ deps, client }) => {
    const { settlement, late } = await settledWithout(deps, client)
    await recount(deps, client)
    await sweptADayLater(deps, client)

    const asked = { clientId: client.clientId, id: settlement.settlementId, limit: 100 }
    const { entries } = await settlementEntries(deps, asked)
    const { book, differences } = await readClientBook(deps, client.clientId, { from: '2026-11-01', to: '2026-11-30' })

    expect(entries.map(({ payment_id: id }) => id)).not.toContain(late.paymentId)
    expect(entries).toHaveLength(2)
    expect(differences).toStrictEqual([])
    expect(book).toMatchObject({ 'taken_in.virtual_account': 270_000, clients: settlement.netMinor + late.netMinor })
  })

  it('that is a write-off counts once among the write-offs', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    const { entry } = await adjusted(deps, client, 'written_off', 10_000)
    const { items } = await sweptWithout(deps, client, [entryKey(client, entry)])
    for (const item of items) await putRaw(deps, item)

    await recount(deps, client)

    await expectBalanced(deps, client.clientId)
    await sweptADayLater(deps, client)
    expect(await readWindow(deps, client.clientId)).toMatchObject({ writtenOffMinor: 10_000 })
  })

  it('is re-credited once by two recounts at the same moment', async ({ deps, client }) => {
    const { late } = await settledWithout(deps, client)
    const raced = beforeFirst(deps, 'transact', () => recount(deps, client))

    await expect(recount(raced, client)).rejects.toMatchObject({ code: 'conflict' })

    expect(await readWindow(deps, client.clientId)).toMatchObject({ availableMinor: late.netMinor })
  })

  it('waits for the next recount when a window is closed meanwhile', async ({ deps, client }) => {
    const { late } = await settledWithout(deps, client)
    const raced = beforeFirst(deps, 'transact', () => {
      const closedUntil = addMs(deps.now(), MINUTE_MS)
      return deps.table.write(update(windowKey(client.clientId), { set: { closedUntil } }))
    })

    await recount(raced, client).catch(() => undefined)

    expect(await readWindow(deps, client.clientId)).toMatchObject({ availableMinor: 0 })
    deps.clock.advance(120)
    await recount(deps, client)
    expect(await readWindow(deps, client.clientId)).toMatchObject({ availableMinor: late.netMinor })
  })

  it('is re-credited after another one of the same settlement', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    const late = [await aSucceededPayment(deps, client), await aSucceededPayment(deps, client)]
    const { items } = await sweptWithout(deps, client, late.flatMap(keysOf))

    for (const item of items) {
      await putRaw(deps, item)
      for (let round = 0; round < 3; round++) await recount(deps, client)
    }

    const availableMinor = late.reduce((sum, { netMinor }) => sum + netMinor, 0)
    expect(await readWindow(deps, client.clientId)).toMatchObject({ availableMinor })
  })
})

it('a recount puts back an entry that a settlement has taken, and credits nothing', async ({ deps, client }) => {
  const payment = await aSucceededPayment(deps, client)
  await sweptADayLater(deps, client)
  for (const key of keysOf(payment)) await deps.table.write(remove(key, exists))
  const differences = await differencesOf(deps, client)

  const missing = differences.filter(({ found }) => found === 'missing')
  await recount(deps, client, missing)

  await expectBalanced(deps, client.clientId)
})
