/**
 * Goal: one recount repairs any part of the last transaction that a restore left, and money counts
 * once even if the recount is interrupted. Method: the transactions of each flow of money are
 * recorded on a table in memory, and left in every torn state: each item missing, each item alone,
 * each prefix. `npm test` has a sample of them, the nightly run all.
 */
import { describe, expect, it } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { creditedOf, readLedger } from '../../../shared/ledger/ledger-store.ts'
import { minor } from '../../../shared/money.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { create, payFirst } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { isNightly, sampleOf } from '../../support/runs.ts'
import {
  aLoneClient,
  aSettledClient,
  bringBack,
  payOut,
  settledAmount,
  settlementsOf,
} from '../../support/settlement-builders.ts'
import { notifyOf } from '../../support/synced-payment.ts'
import { interceptTable, type MemoryDeps } from '../../support/test-deps.ts'
import { FLOWS, receiveCallbacks, receiveEverything, syncRows } from './torn-flows.ts'
import {
  clientWithEndpoints,
  expectHealed,
  recordTransactions,
  recount,
  tearFlow,
  tornStates,
} from './torn-world.ts'

describe.each(Object.entries(FLOWS))(
  'a restore in the midst of a payment that %s',
  async (name, flow) => {
    const tornFlow = await tearFlow(flow)

    it.each(sampleOf(tornFlow.states, 99))('$title', async ({ world }) => {
      const deps = world()

      await recount(deps, tornFlow.client)

      await expectHealed(deps, tornFlow)
    })

    /**
     * Callbacks may come before the recount. The sync may not come before it: the sync would post
     * an open payment a second time.
     */
    const callbackStates = /^(succeed|fail|expire|is cancelled)/.test(name) ? tornFlow.states : []
    it.each(sampleOf(callbackStates, 99))('and an hour of callbacks: $title', async ({ world }) => {
      const deps = world()
      deps.clock.advance(3_600)
      await receiveCallbacks(deps, () => {})

      await recount(deps, tornFlow.client)

      await expectHealed(deps, tornFlow)
    })
  },
)

async function heal(deps: MemoryDeps, client: Client, rounds: number) {
  for (let round = 0; round < rounds; round++) await recount(deps, client)
  await expectBalanced(deps, client)
  await receiveEverything(deps)
  await expectBalanced(deps, client)
  expect(deps.stored.items('SUSPENSE#').filter(({ kind }) => kind === 'money')).toStrictEqual([])
}

describe.each([
  ['succeeds', 'is posted'],
  ['is refunded after it was posted', 'fails'],
  ['is posted after a partial refund', 'expires'],
] as const)(
  'a restore in the midst of a payment that %s, and of a payment that %s',
  async (...names) => {
    const { deps, client } = await clientWithEndpoints(1)
    const recordedTransactions = []
    for (const name of names) {
      recordedTransactions.push(
        ...(await recordTransactions(deps, await FLOWS[name](deps, client))).slice(-1),
      )
    }

    it.each(sampleOf(tornStates(recordedTransactions), 99))('$title', ({ world }) =>
      heal(world(), client, 1),
    )
  },
)

describe.each([
  ['is posted', {}],
  ['is refunded', { ...NOT_SETTLED, type: 'return', reversalKind: 'refund' } as const],
])('a restore in the midst of two transactions of one payment that %s', async (_, row) => {
  const { deps, client } = await clientWithEndpoints(1)
  const createTransactions = await recordTransactions(deps, (acting) => create(acting, client))
  const capture = payFirst(deps)
  const { providerPaymentId } = capture
  deps.provider.transactions.push(settledRow(capture, deps.now(), NOT_SETTLED))
  deps.clock.advance(60)
  const payTransactions = await recordTransactions(deps, (acting) =>
    notifyOf(acting, providerPaymentId),
  )
  deps.provider.transactions.push(settledRow(capture, deps.now(), row))
  deps.clock.advance(1)
  const moveTransactions = await recordTransactions(deps, syncRows)

  const states = [
    ...tornStates([...createTransactions, ...payTransactions]),
    ...tornStates([...payTransactions, ...moveTransactions]),
  ]
  it.each(sampleOf(states, 99))('$title', ({ world }) => heal(world(), client, 2))
})

describe('a restore while a payout is marked paid, and while it comes back', async () => {
  const { deps, client, settlement } = await aSettledClient()
  const { netMinor } = settlement
  const payTransactions = await recordTransactions(deps, (acting) => payOut(acting, settlement))
  const returnTransactions = await recordTransactions(deps, (acting) =>
    bringBack(acting, settlement),
  )
  const states = tornStates([...payTransactions.slice(-1), ...returnTransactions.slice(-1)])

  it.each(sampleOf(states, 30))('$title', async ({ title, world }) => {
    const torn = world()
    const [paid = '', back = ''] = title.split('; ')
    const isBack = /settlement|entry|\d{4}-/.test(back)
    const isPaid = isBack || /settlement|window|event|\d{4}-/.test(paid)

    await recount(torn, client)

    const [after] = await settlementsOf(torn, client)
    expect(after?.status).toBe(isPaid ? 'manual_paid' : 'recorded')
    expect(after?.returnedAt !== undefined).toBe(isBack)
    const ledger = await readLedger(torn, client.clientId)
    expect(creditedOf(ledger)).toBe(isBack ? 2 * netMinor : netMinor)
    expect(ledger.window.paidOutMinor).toBe(isPaid ? netMinor : 0)
  })
})

describe.each([100_000, 70_000])(
  'a restore while payouts of 100000 and %i are marked',
  async (other) => {
    const { deps, client } = await aLoneClient()
    const settlements = [
      await settledAmount(deps, client),
      await settledAmount(deps, client, other),
    ]
    const transactions = []
    for (const one of settlements)
      transactions.push(
        ...(await recordTransactions(deps, (acting) => payOut(acting, one))).slice(-1),
      )
    const states = tornStates(transactions).filter(({ title }) =>
      /only window(; only )?$/.test(title),
    )

    it.each(sampleOf(states, 4))(
      'keeps what the window shows: $title',
      async ({ title, world }) => {
        const torn = world()
        const { window: before } = await readLedger(torn, client.clientId)

        await recount(torn, client)

        const { window } = await readLedger(torn, client.clientId)
        expect(window).toStrictEqual(before)
        const isUnclear = title.endsWith('; only ') && other === 100_000
        const paidCount = isUnclear ? 0 : title.endsWith('; only ') ? 1 : 2
        const after = await settlementsOf(torn, client)
        expect(after.filter(({ status }) => status === 'manual_paid')).toHaveLength(paidCount)
      },
    )
  },
)

describe('a restore in the midst of a refund, and of its fee that became final later', async () => {
  const { deps, client } = await clientWithEndpoints(1)
  const refund = FLOWS['is refunded after it was posted']
  const refundTransactions = await recordTransactions(deps, await refund(deps, client))
  const withFee = { isFeeEnded: true, feeMinor: minor(500), providerMinor: minor(-30_500) }
  Object.assign(deps.provider.transactions.at(-1) ?? {}, withFee)
  const feeTransactions = await recordTransactions(deps, syncRows)
  const states = tornStates([...refundTransactions, ...feeTransactions]).filter(({ title }) =>
    /^only (entry|event);/.test(title),
  )

  it.each(sampleOf(states, 10))('books that fee once: $title', async ({ world }) => {
    const torn = world()

    await recount(torn, client)

    await syncRows(torn)
    const ofRefund = torn.stored.items('JOURNAL#').filter((entry) => {
      const { transaction_id: id, provider_transaction_id: ownId = id } = entry
      return String(ownId).startsWith('txn-refund')
    })
    const minors = new Set(ofRefund.map((entry) => entry['provider_minor']))
    expect(minors).toBeOneOf([new Set([-30_500]), new Set([-30_000, -500])])
    await expectBalanced(torn, client)
  })
})

/** More transactions than a recount makes, and more rounds than a full repair needs. */
const [MAX_TRANSACTIONS, MAX_ROUNDS] = [5, 3]

function die() {
  return Promise.reject(new Error('the worker died'))
}

const INTERRUPTIONS: readonly (readonly [
  string,
  'before' | 'after',
  meet: (deps: MemoryDeps, client: Client) => Promise<unknown>,
])[] = [
  ['dies before it writes', 'before', die],
  ['dies after it has written', 'after', die],
  ['meets another recount', 'before', recount],
  ['meets callbacks', 'before', (deps) => receiveCallbacks(deps, () => {})],
]

const INTERRUPTED = [
  'succeeds',
  'succeeds while it is created',
  'fails',
  'is posted after a partial refund',
  'shows its row late',
  'is voided while it is open',
  'is won back after a write-off',
  'is settled again',
] as const

describe.each(INTERRUPTED.map((flow, at) => [flow, at]))(
  'a recount of a payment that %s',
  async (flow, at) => {
    const tornFlow = await tearFlow(FLOWS[flow])
    const cases = sampleOf(tornFlow.states, 60).flatMap((state) =>
      INTERRUPTIONS.map(([name, when, meet]) => ({ ...state, name, when, meet })),
    )

    // `npm test` has one interruption of each flow.
    it.each(cases.filter((_, nth) => isNightly || (nth + at) % 4 === 0))(
      '$name: $title',
      async ({ world, when, meet }) => {
        for (let nth = 1; nth <= MAX_TRANSACTIONS; nth++) {
          const deps = world()
          let made = 0
          const hook = async ({ name }: { readonly name: string }) => {
            if (name === 'transact' && ++made === nth) await meet(deps, tornFlow.client)
          }
          // A recount that was overtaken answers 409; a recount that died answers nothing.
          await recount(interceptTable(deps, { [when]: hook }), tornFlow.client).catch(
            () => undefined,
          )
          if (made < nth) return
          for (let round = 0; round < MAX_ROUNDS; round++) await recount(deps, tornFlow.client)
          await expectHealed(deps, tornFlow)
        }
        throw new Error('the recount never ended')
      },
    )
  },
)
