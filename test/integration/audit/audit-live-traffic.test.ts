import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditGateway } from '../../../shared/audit/audit-gateway.ts'
import { minor } from '../../../shared/money.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { bookSuspense, bookUnmatchedRow } from '../../../shared/posting/house-journal.ts'
import { writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { houseEntryKey } from '../../../shared/table/keys.ts'
import type { QueryInput } from '../../../shared/table/table.ts'
import { DAY_MS, HOUR_MS } from '../../../shared/time.ts'
import { aHouseRow, someHeldMoney } from '../../support/money-rows.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { post } from '../../support/paid-builders.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { sampleOf } from '../../support/runs.ts'
import { fail, payOut, recredit, sweptNow } from '../../support/settlement-builders.ts'
import { aSyncWorld, creditedPayment, type SyncWorld } from '../../support/synced-payment.ts'
import { erase, putRaw } from '../../support/tampering.ts'
import {
  depsWithLateIndexes,
  interceptTable,
  memoryDeps,
  recordTable,
} from '../../support/test-deps.ts'

const BANK = { bank_name: 'BCA', bank_account_no: '', bank_account_name: 'PT Toko' }

/** Advances the clock by a day. */
async function aSettlement({ deps, client }: SyncWorld) {
  const { payment } = await creditedPayment(deps, client)
  await post(deps, payment, { feeMinor: minor(4_440) })
  deps.clock.pass(25 * HOUR_MS)
  return sweptNow(deps, client)
}

const ACTIONS = {
  'is made': ({ deps, client }) => aPendingPayment(deps, client),
  succeeds: ({ deps, client }) => creditedPayment(deps, client),
  'is cancelled': async ({ deps, client }) =>
    cancelPayment(deps, {
      clientId: client.clientId,
      id: (await aPendingPayment(deps, client)).paymentId,
    }),
  'is posted': async ({ deps, client }) =>
    post(deps, (await creditedPayment(deps, client)).payment, { feeMinor: 4_440 }),
  'is settled': (world) => aSettlement(world),
  'is in a settlement that is paid': async (world) => payOut(world.deps, await aSettlement(world)),
  'is in a settlement that fails and is recredited': async (world) =>
    recredit(world.deps, await fail(world.deps, await aSettlement(world))),
} satisfies Readonly<Record<string, (world: SyncWorld) => Promise<unknown>>>

/**
 * Audits the client while an action runs just before the given read of each look. Answers whether
 * the books balance.
 */
async function auditDuring(
  world: SyncWorld,
  nthRead: number,
  act: (world: SyncWorld) => Promise<unknown>,
  whileAsleep = () => {},
) {
  // The client is read once, before the first look.
  let reads = -1
  const watched = interceptTable(world.deps, {
    before: async () => {
      if (++reads === nthRead) await act(world)
    },
  })
  const sleep = async (ms: number) => {
    whileAsleep()
    // The second look comes ten seconds later, or more.
    if (ms >= 10_000) reads = 0
  }
  return (await auditLedger({ ...watched, sleep }, world.client.clientId)).balanced
}

/** Locally the clock can jump meanwhile. */
it('an audit of the gateway reads rows booked while it waits', async () => {
  const deps = memoryDeps()
  const stray = houseEntryKey('2026-11-20', 'txn-1', 'topup')
  await putRaw(deps, { ...stray, type: 'topup' })
  let slept = 0
  const sleep = async () => {
    if (slept++ === 0) await erase(deps, stray)
    deps.clock.pass(3 * DAY_MS)
    await bookUnmatchedRow(deps, aHouseRow(deps, deps.now(), -100))
  }

  await auditGateway({ ...deps, sleep })

  expect([slept > 0, deps.published]).toStrictEqual([true, []])
})

describe('audit-ledger under live traffic', () => {
  it.each(Object.entries(ACTIONS))(
    'is never false when a payment %s between two reads, at the same place of every look',
    async (_, act) => {
      const world = await aSyncWorld()
      await act(world)
      const recorded = recordTable(world.deps)
      await auditLedger(recorded.deps, world.client.clientId)
      const verdicts: unknown[] = []
      for (const read of sampleOf([...recorded.calls.keys()], 30))
        verdicts.push(await auditDuring(world, read + 1, act))

      expect(verdicts).not.toContain(false)
      expect(recorded.calls.length).toBeGreaterThan(30)
      await expectBalanced(world.deps, world.client)
    },
  )

  it.each([
    ['the open payments', ({ index }) => index === 'by-open'],
    ['the entries', ({ partition: [pk] }: QueryInput) => String(pk).startsWith('JOURNAL#')],
  ])(
    'is never false when a payment is posted during every check, before the check reads %s',
    async (_, isRead) => {
      const { deps, client } = await aSyncWorld()
      const openPayments: Payment[] = []
      for (let made = 0; made < 6; made++)
        openPayments.push((await creditedPayment(deps, client)).payment)
      const busy = interceptTable(deps, {
        before: async (call) => {
          const payment =
            call.name === 'query' && isRead(call.query) ? openPayments.shift() : undefined
          if (payment) await post(deps, payment, { feeMinor: payment.providerFeeMinor })
        },
      })

      expect((await auditLedger(busy, client.clientId)).balanced).not.toBe(false)
      expect([1, 5]).toContain(openPayments.length)
    },
  )

  it('is never false when the bank is changed within every check, while the client is read', async () => {
    const { deps, client } = await aSyncWorld()
    const { clientId } = client
    let [isToChange, changes] = [true, 0]
    const busy = interceptTable(deps, {
      before: async (call) => {
        const isOfClient = 'keys' in call && call.keys.some(({ pk }) => pk === `CLIENT#${clientId}`)
        if (!isOfClient || !isToChange) return
        isToChange = false
        // The records, which are read at the same time, are read before the change.
        await setImmediate()
        const bank = { ...BANK, bank_account_no: `001122338${changes++}` }
        const request = { operator: 'ayu', client_id: clientId, bank }
        expect(await invokeAdmin('update-client', deps, request)).toMatchObject({ status: 200 })
      },
    })
    const sleep = async () => void (isToChange = true)

    expect((await auditLedger({ ...busy, sleep }, clientId)).balanced).not.toBe(false)
    expect(changes).toBeGreaterThan(0)
  })

  it.each([
    ['PAYMENT#', 'is made'],
    ['PAYMENT#', 'succeeds'],
    ['PAYMENT#', 'is posted'],
    ['SETTLEMENT#', 'is settled'],
  ] as const)(
    'is never false while the indexes do not list the newest %s: a payment %s just before each look',
    async (pk, name) => {
      const { deps, catchUp } = depsWithLateIndexes(pk)
      const world = await aSyncWorld(deps)
      const act = ACTIONS[name]
      const verdicts: unknown[] = []
      for (const read of sampleOf([1, 2, 3, 4, 5, 6, 7], 3)) {
        await act(world)
        verdicts.push(await auditDuring(world, read, act, catchUp))
      }

      expect(verdicts).not.toContain(false)
      catchUp()
      await expectBalanced(deps, world.client)
    },
  )

  it.each(['is made', 'succeeds', 'is posted'] as const)(
    'is never false when the index shows 90 seconds late that a payment %s',
    async (name) => {
      const { deps, catchUp } = depsWithLateIndexes('PAYMENT#')
      const world = await aSyncWorld(deps)
      await ACTIONS[name](world)
      let waitedMs = 0
      const sleep = async (ms: number) => {
        waitedMs += ms
        if (waitedMs >= 90_000) catchUp()
      }

      const { balanced, differences } = await auditLedger({ ...deps, sleep }, world.client.clientId)

      expect([balanced, differences]).toStrictEqual([true, []])
    },
  )

  it.each([1, 3])('finds %d settlements by their window while the indexes lag', async (count) => {
    const { deps } = depsWithLateIndexes('SETTLEMENT#')
    const world = await aSyncWorld(deps)
    for (let settled = 0; settled < count; settled++) await aSettlement(world)

    expect(await auditLedger(deps, world.client.clientId)).toMatchObject({ balanced: true })
  })

  it('finds nothing wrong in a settlement that a clock four minutes slow has recorded', async () => {
    const { deps, client } = await aSyncWorld()
    await post(deps, (await creditedPayment(deps, client)).payment, { feeMinor: 4_440 })
    deps.clock.pass(25 * HOUR_MS)
    const randomBytes = (size: number) => {
      deps.clock.advance(-240)
      return deps.randomBytes(size)
    }
    await sweptNow({ ...deps, randomBytes }, client)
    deps.clock.advance(240)

    expect(await auditLedger(deps, client.clientId)).toMatchObject({ balanced: true })
  })

  it('finds money in suspense by its entries while the index lags', async () => {
    const { deps } = depsWithLateIndexes('SUSPENSE#')
    const { client } = await aSyncWorld(deps)
    const item = { ...someHeldMoney(deps, 'py-held', 30_000), clientId: client.clientId }
    await writeSuspense(deps, item)
    await bookSuspense(deps, item, aHouseRow(deps, 'txn_held', 29_000))

    expect(await auditLedger(deps, client.clientId)).toMatchObject({ balanced: true })
  })
})
