/**
 * Goal: a figure that somebody changes behind the gateway's back is one that the books' other sources do not agree with.
 * Method: each figure of the ledger, the window, a settlement, a sealed window and a reversal, one rupiah more.
 */
import { describe, expect, it } from 'vitest'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import { correctCredit } from '../../../shared/ledger/ledger-store.ts'
import { minor } from '../../../shared/money.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { reversalKey, settlementKey, windowKey, windowSealKey } from '../../../shared/table/keys.ts'
import { HOUR_MS } from '../../../shared/time.ts'
import { settlementsOf } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { aClientWithBooks, booksOf, passes } from './books-world.ts'

type World = Awaited<ReturnType<typeof aClientWithBooks>>

describe('somebody who writes behind the gateway’s back', () => {
  const plusOne = async ({ deps }: World, key: Parameters<typeof rawItem>[1], field: string) => {
    const item = await rawItem(deps, key)
    await putRaw(deps, { ...item, [field]: Number(item[field]) + 1 })
  }

  it.for<{ what: string; tamper: (world: World) => Promise<unknown>; difference: object }>([
    {
      what: 'a shard',
      tamper: ({ deps, waiting }) => deps.table.write(correctCredit(waiting, minor(1), deps.now())),
      difference: { credited_difference: 1 },
    },
    ...['settled_minor', 'available_minor', 'in_settlement_minor', 'paid_out_minor'].map((field) => ({
      what: `the window's ${field}`,
      tamper: (world: World) => plusOne(world, windowKey(world.client.clientId), field),
      difference: { settled_difference: 1 },
    })),
    ...['gross_minor', 'net_minor'].map((field) => ({
      what: `a settlement's ${field}`,
      tamper: async (world: World) => {
        const [settlement] = await settlementsOf(world.deps, world.client)
        await plusOne(world, settlementKey(settlement?.settlementId as never), field)
      },
      difference: { settled_difference: expect.any(Number) },
    })),
    ...['gross_minor', 'provider_fees_minor', 'markup_minor', 'net_minor', 'payment_count'].map((field) => ({
      what: `a sealed window's ${field}`,
      tamper: async (world: World) => {
        passes(world.deps, HOUR_MS)
        await auditClient(world.deps, world.client.clientId)
        const [settlement] = await settlementsOf(world.deps, world.client)
        await plusOne(world, windowSealKey(world.client.clientId, String(settlement?.periodStart)), field)
      },
      difference: { settled_difference: 1 },
    })),
    ...['notional_minor', 'net_minor'].map((field) => ({
      what: `a reversal's ${field}`,
      tamper: async (world: World) => {
        const { deps, client, waiting } = world
        await reversePayment(deps, waiting, { transactionId: 'txn_1', kind: 'voided', amountMinor: minor(100_000) })
        await plusOne(world, reversalKey(client.clientId, String(waiting.paidAt), 1), field)
      },
      difference: { settled_difference: 1 },
    })),
  ])('is found at $what', async ({ tamper, difference }) => {
    const world = await aClientWithBooks()

    await tamper(world)

    expect(await booksOf(world.deps, world.client)).toMatchObject({ ...difference, balanced: false })
  })
})
