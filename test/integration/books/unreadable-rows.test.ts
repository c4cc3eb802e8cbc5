import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import {
  houseTotalKey,
  journalPk,
  settlementKey,
  shardKey,
  suspenseKey,
} from '../../../shared/table/keys.ts'
import { aFinding } from '../../support/money-rows.ts'
import { invokeWhole } from '../../support/operator-actions.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { sweptADayLater, withoutFloor } from '../../support/settlement-builders.ts'
import { alter, alterSettlement, putRaw, rawItem } from '../../support/tampering.ts'
import { memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { compareNow } from './books-world.ts'

async function aWorld() {
  const deps = memoryDeps()
  const [client, other] = [await withoutFloor(deps), await withoutFloor(deps)]
  await aSucceededPayment(deps, client)
  await aSucceededPayment(deps, other)
  deps.provider.showBalance(2 * 96_000)
  return { deps, client }
}
const it = testWith(aWorld, 'deps', 'client')

async function booksOf(deps: TestDeps, input: object = {}) {
  const { status, body } = await invokeWhole('get-books', deps, input)
  const { figures, balanced, differences } = body as Readonly<Record<string, unknown>>
  return { status, figures, balanced, differences }
}

/** Answers the difference that names the entry. */
async function spoilEntry(
  deps: TestDeps,
  { clientId }: Pick<Client, 'clientId'>,
  changes: object = { type: 'cashback' },
) {
  const { items } = await deps.table.query({ partition: [journalPk(clientId)], limit: 1 })
  const [pk, sk] = [String(items[0]?.['pk']), String(items[0]?.['sk'])]
  await alter(deps, { pk, sk }, changes)
  return { what: 'entry', id: sk.split('#')[1], expected: 'readable', found: 'unreadable' }
}

describe('the books of all', () => {
  it('name an entry that cannot be read, and count the entries of other clients', async ({
    deps,
    client,
  }) => {
    const named = await spoilEntry(deps, client)

    const { figures, balanced, differences } = await booksOf(deps)
    const atProvider = { name: 'at_provider.payment', amount_minor: 96_000 }
    expect(figures).toContainEqual(expect.objectContaining(atProvider))
    expect(balanced).toBe(false)
    expect(differences).toContainEqual(named)
    expect(await compareNow(deps)).toStrictEqual({ waits: true, gap_minor: 96_000 })
  })

  it('name such an entry of a settlement without totals of each day', async ({ deps, client }) => {
    const { settlementId } = await sweptADayLater(deps, client)
    const [total] = (await rawItem(deps, settlementKey(settlementId)))['totals'] as object[]
    await alterSettlement(
      deps,
      { settlementId },
      { totals: [{ ...total, day: '2026-11-01', lastDay: '2026-11-21' }] },
    )
    const named = await spoilEntry(deps, client)

    const { differences } = await booksOf(deps, { from: '2026-11-20', to: '2026-11-21' })
    expect(differences).toContainEqual(named)
  })

  it('name an amount whose sums are rounded, and compare none', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    const found = Number.MAX_SAFE_INTEGER
    const [net_minor, provider_minor] = [found - 4_100, found - 4_000]
    await spoilEntry(deps, client, { gross_minor: found, net_minor, provider_minor })

    const differences = [{ what: 'entry.sides', found }]
    expect(await booksOf(deps)).toMatchObject({ balanced: false, differences })
    expect(await compareNow(deps)).toStrictEqual({ waits: true, gap_minor: 96_000 })
  })

  it('name a house total that cannot be read', async ({ deps }) => {
    const key = houseTotalKey('2026-11-20', 'cashback')
    await putRaw(deps, { ...key, type: 'cashback', day: '2026-11-20', count: 1 })

    expect(await booksOf(deps)).toMatchObject({
      status: 200,
      balanced: false,
      differences: [{ what: 'house_total', id: key.sk, expected: 'readable', found: 'unreadable' }],
    })
    expect(await compareNow(deps)).toMatchObject({ gap_minor: 0 })
  })

  it('are not balanced with a shard that cannot be read, because `open` lacks it', async ({
    deps,
    client: { clientId },
  }) => {
    await alter(deps, shardKey(clientId, 3), { count_pending: 'x' })

    const differences = [{ what: 'ledger.shards', id: clientId, expected: 16, found: 15 }]
    expect(await booksOf(deps)).toMatchObject({ balanced: false, differences })
  })

  it('are not balanced while a finding about a contradicting row cannot be read', async ({
    deps,
    client: { clientId },
  }) => {
    const id = 'txn_1#amount_differs'
    const payment = { paymentId: undefined, clientId }
    await aFinding(deps, { subject: 'txn_1', cause: 'amount_differs', payment })
    await alter(deps, suspenseKey(id), { kind: 'claim' })

    const found = 'unreadable'
    const differences = [{ what: 'contradicting row', id, expected: 'explained', found }]
    for (const input of [{}, { client_id: clientId }])
      expect(await booksOf(deps, input)).toMatchObject({ balanced: false, differences })
  })
})

describe('a suspense item that cannot be read', () => {
  const ids = ['txn_1#transaction_unexplained', 'txn_2#transaction_unexplained'] as const

  async function withSpoiltItem(deps: TestDeps) {
    for (const id of ids) {
      const [subject = ''] = id.split('#')
      await aFinding(deps, { subject, cause: 'transaction_unexplained' })
    }
    await alter(deps, suspenseKey(ids[0]), { kind: 'claim' })
  }

  it('stops no comparison with the provider, and the log names it', async ({ deps }) => {
    await withSpoiltItem(deps)

    expect(await compareNow(deps)).toStrictEqual({ day: '2026-11-20', gap_minor: 0 })

    expect(deps.lines).toContainEqual(
      expect.objectContaining({ code: 'row.unreadable', fields: { kind: 'suspense', id: ids[0] } }),
    )
  })

  it.for([{}, { status: 'open' }, { kind: 'finding' }])(
    'is named in the list of %o beside the others',
    async (input, { deps }) => {
      await withSpoiltItem(deps)

      expect(await invokeWhole('list-suspense', deps, input)).toMatchObject({
        status: 200,
        body: { data: [{ suspense_id: ids[1] }], unreadable_ids: [ids[0]] },
      })
    },
  )
})
