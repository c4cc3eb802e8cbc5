/**
 * Goal: no entry lands in a window that is summed or swept. Method: real stores; the fence is
 * raised at every place and in every state, and writes with entries before it are tried at each
 * item.
 */
import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { paymentIdFor } from '../../../shared/ids.ts'
import { raiseFence } from '../../../shared/ledger/fence-store.ts'
import { adjustCredit, moveCredit, shardOf } from '../../../shared/ledger/shard-store.ts'
import { recreditWindow, writeOffInWindow } from '../../../shared/ledger/window-store.ts'
import { minor, ZERO } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { bookLateRow } from '../../../shared/posting/post-payments.ts'
import { shardKey, windowKey } from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, MINUTE_MS } from '../../../shared/time.ts'
import { adjustBalance, aVoid, bookRefund } from '../../support/money-rows.ts'
import {
  aDigestOfShard,
  anAssumedPayment,
  anOpenPayment,
  entriesIn,
  post,
  settledRowFor,
} from '../../support/paid-builders.ts'
import { erase, putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeCommit,
  interceptTable,
  recordTable,
  type TestDeps,
  writtenKeys,
} from '../../support/test-deps.ts'
import { clientTest as it } from '../settlement/client-test.ts'

async function fencesOf(deps: TestDeps, { clientId }: Client) {
  const keys = Array.from({ length: LEDGER_SHARDS }, (_, shard) => shardKey(clientId, shard))
  return new Set(
    (await deps.table.getMany([windowKey(clientId), ...keys])).map((item) => item?.['closedUntil']),
  )
}

describe('raiseFence (design sections 4 and 12)', () => {
  it('raises the window first, then every shard; it never lowers a fence', async ({
    deps,
    client,
  }) => {
    const { deps: recorded, calls } = recordTable(deps)
    const end = addMs(deps.now(), 1)

    await raiseFence(recorded, client.clientId, end)

    const [first, ...shards] = writtenKeys(calls)
    expect(first).toStrictEqual(windowKey(client.clientId))
    expect(new Set(shards.map(({ pk, sk }) => `${pk} ${sk}`)).size).toBe(16)
    expect(await fencesOf(deps, client)).toStrictEqual(new Set([end]))
    await raiseFence(deps, client.clientId, deps.now())
    expect(await fencesOf(deps, client)).toStrictEqual(new Set([end]))
  })

  it('throws if a shard is missing or has no fence, and creates neither of them', async ({
    deps,
    client,
  }) => {
    const [removedShard, bareShard] = [shardKey(client.clientId, 4), shardKey(client.clientId, 5)]
    const { closedUntil } = (await deps.table.get(removedShard)) ?? {}
    const end = addMs(deps.now(), 1)

    await erase(deps, removedShard)
    await expect(raiseFence(deps, client.clientId, end)).rejects.toThrow('no fence')
    expect(await deps.table.get(removedShard)).toBeUndefined()
    await deps.table.write(update(removedShard, { set: { closedUntil } }))
    await deps.table.write(update(bareShard, { remove: ['closedUntil'] }))
    await expect(raiseFence(deps, client.clientId, end)).rejects.toThrow('no fence')

    await deps.table.write(update(bareShard, { set: { closedUntil } }))
  })
})

describe('a write with an entry before the fence', () => {
  it('is refused by every shard, by the shard of adjustments and by the window', async ({
    deps,
    client,
  }) => {
    const { clientId } = client
    const end = addMs(deps.now(), 10)
    await raiseFence(deps, clientId, end)
    const earlyAt = addMs(end, -1)

    for (let shard = 0; shard < LEDGER_SHARDS; shard++) {
      const payment = { clientId, paymentId: paymentIdFor(clientId, aDigestOfShard(client, shard)) }
      for (const net of [ZERO, minor(5)]) {
        expect(
          await deps.table.transact({ shard: moveCredit(payment, net, earlyAt) }),
        ).toMatchObject({ applied: false })
      }
      expect(await deps.table.transact({ shard: moveCredit(payment, ZERO, end) })).toMatchObject({
        applied: true,
      })
    }
    const steps = [
      adjustCredit(clientId, minor(5), earlyAt),
      recreditWindow(clientId, minor(5), earlyAt),
      writeOffInWindow(clientId, { readMinor: ZERO, addMinor: minor(5), postedAt: earlyAt }),
    ]
    for (const step of steps)
      expect(await deps.table.transact({ step })).toMatchObject({ applied: false })
    const atEnd = writeOffInWindow(clientId, { readMinor: ZERO, addMinor: ZERO, postedAt: end })
    expect(await deps.table.transact({ step: atEnd })).toMatchObject({ applied: true })
  })

  it('is refused when a shard or the window has no fence, and when the shard is missing', async ({
    deps,
    client,
  }) => {
    const open = await anOpenPayment(deps, client)
    const [shard, window] = [shardOf(open), windowKey(client.clientId)]
    const rows = [await rawItem(deps, shard), await rawItem(deps, window)]
    for (const key of [shard, window])
      await deps.table.write(update(key, { remove: ['closedUntil'] }))

    await expect(post(deps, open)).rejects.toThrow()
    const step = recreditWindow(client.clientId, minor(5), addMs(deps.now(), DAY_MS))
    expect(await deps.table.transact({ step })).toMatchObject({ applied: false })
    await erase(deps, shard)
    await expect(bookRefund(deps, open, 10_000)).rejects.toThrow('kept changing')

    for (const row of rows) await putRaw(deps, row)
    expect(await entriesIn(deps, client)).toStrictEqual([])
  })
})

it('a movement keeps the time of its transaction; its entry is posted at the fence', async ({
  deps,
  client,
}) => {
  const payment = await post(deps, await anOpenPayment(deps, client))
  const fence = addMs(deps.now(), MINUTE_MS)
  await raiseFence(deps, client.clientId, fence)

  await bookRefund(deps, payment, 10_000)

  const times = { notedAt: deps.now(), postedAt: fence }
  expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ movements: [times] })
})

function bookVoid(deps: TestDeps, open: Payment) {
  return movePayment(deps, open, aVoid(deps, 'own', open.notionalMinor, true))
}

function adjust(deps: TestDeps, { clientId }: Payment) {
  return adjustBalance(deps, { clientId }, 'correction', -25_000, 'BANK-1')
}

describe('a write during which another run raises the fence', () => {
  it.for([
    ['a posting', post, { message: expect.stringContaining('kept being closed') }],
    ['a void of an open payment', bookVoid, { message: expect.stringContaining('kept changing') }],
    ['an adjustment', adjust, { code: 'conflict' }],
  ] as const)(
    'gives up and writes nothing if the fence rises before each try: %s',
    async ([, write, error], { deps, client }) => {
      const open = await anOpenPayment(deps, client)
      const raised = interceptTable(deps, {
        before: async ({ name }) => {
          if (name !== 'transact') return
          await raiseFence(deps, client.clientId, addMs(deps.now(), MINUTE_MS))
          deps.clock.advance(1)
        },
      })

      await expect(write(raised, open)).rejects.toMatchObject(error)

      expect(await entriesIn(deps, client)).toStrictEqual([])
      await write(deps, open)
    },
  )

  it('does not book a late row; the next try books it', async ({ deps, client }) => {
    const payment = await anAssumedPayment(deps, client)
    const row = settledRowFor(payment, { feeMinor: 4_440 })
    const raised = beforeCommit(deps, () =>
      raiseFence(deps, client.clientId, addMs(deps.now(), MINUTE_MS)),
    )

    expect(await bookLateRow(raised, payment, row)).toMatchObject({ applied: false })

    expect((await entriesIn(deps, client)).map(({ type }) => type)).toStrictEqual(['payment'])
    expect(await bookLateRow(deps, payment, row)).toMatchObject({ applied: true })
  })
})
