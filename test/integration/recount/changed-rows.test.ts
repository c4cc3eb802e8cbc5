/** Goal: a recount heals also what the provider has changed since it was booked. */
import { describe, expect } from 'vitest'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { bookUnmatchedRow } from '../../../shared/posting/house-journal.ts'
import { refundPayment } from '../../../shared/posting/refund-payment.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { finding } from '../../../shared/suspense/record-suspense.ts'
import { writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { destinationKey, notedKey, paymentKey, suspenseKey } from '../../../shared/table/keys.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { aHouseRow, entryKeyOf } from '../../support/money-rows.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { succeededKey } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aLonePayment, standingOf } from '../../support/settlement-builders.ts'
import { creditedPayment, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { alter, erase, putRaw, rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { send } from '../payment/dispute-news.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { refundFields } from '../sync/held-money.ts'
import { syncRows } from './torn-flows.ts'
import { recount } from './torn-world.ts'

/** Another form of the payment's own row. */
function change(deps: TestDeps, fields: Partial<ProviderTransaction>) {
  const { transactions } = deps.provider
  const own = transactions.pop()
  if (own) transactions.push({ ...own, keptMinor: undefined, ...fields, updatedAt: deps.now() })
}

const CHANGES: Readonly<Record<string, (deps: TestDeps, requestId: string) => unknown>> = {
  'has voided': (deps) =>
    change(deps, { status: 'reversed', reversalKind: 'voided', providerMinor: minor(100_000) }),
  'has charged less for': (deps) =>
    change(deps, { providerMinor: minor(100_000), isFeeEnded: true }),
  'has been paid for twice': (deps, requestId) => deps.provider.pay(requestId),
  'has deducted a fee from, under a contract that bills later,': () => undefined,
}

describe.each(Object.entries(CHANGES))('a payment that the provider %s', (title, act) => {
  it.for(['entry', 'posting'])('is healed of a lost %s', async (lost, { deps: own, client }) => {
    const providerFees = title.includes('bills later') ? 'invoiced' : 'deducted'
    const deps = { ...own, stage: { ...own.stage, providerFees } as const }
    const paid = await creditedPayment(deps, client)
    const key = paymentKey(paid.payment.paymentId)
    const open = await rawItem(deps, key)
    deps.provider.transactions.push(rowNow(deps, paid))
    await syncRows(deps)
    if (lost === 'posting') await putRaw(deps, open)
    else await loseEntry(deps, paid.payment, 'payment')
    deps.clock.advance(120)
    act(deps, paid.payment.paymentRequestId)

    expect((await recount(deps, client)).left).toStrictEqual([])

    await expectBalanced(deps, client)
    await syncRows(deps)
  })
})

async function loseEntry(deps: TestDeps, payment: Payment, type: string) {
  await erase(deps, entryKeyOf(await paymentOf(deps, { payment }), type))
}

it('a recount heals a dispute whose row the provider has ended since', async ({ deps, client }) => {
  const paid = await creditedPayment(deps, client)
  const fields = {
    type: 'return',
    reversalKind: 'chargeback',
    keptMinor: undefined,
    amountMinor: minor(104_000),
    disputedMinor: minor(100_000),
  } as const
  deps.provider.transactions.push(rowNow(deps, paid))
  await syncRows(deps)
  deps.provider.transactions.push(rowNow(deps, paid, fields))
  await syncRows(deps)
  await loseEntry(deps, paid.payment, 'chargeback')
  deps.clock.advance(120)
  change(deps, { status: 'reversed', reversalKind: undefined })

  expect((await recount(deps, client)).left).toStrictEqual([])

  await expectBalanced(deps, client)
  await syncRows(deps)
})

it('a recount heals a refund of a row that an operator took over', async ({ deps, client }) => {
  const paid = await aSucceededPayment(deps, client)
  await bookUnmatchedRow(deps, aHouseRow(deps, 'txn-transfer', -30_000))
  await refundPayment(deps, {
    ...paid,
    operator: 'ana',
    amountMinor: minor(30_000),
    providerTransactionId: 'txn-transfer',
  })
  await loseEntry(deps, paid, 'refund')
  deps.clock.advance(120)

  expect((await recount(deps, client)).left).toStrictEqual([])
})

it.for(['lost', 'unreadable', 'changed'])(
  'a recount leaves a dispute open that the provider asks about again: its case is %s',
  async (how, { deps, client }) => {
    const paid = await creditedPayment(deps, client)
    const about = { id: `mi-${deps.newId()}`, reference_id: paid.reference }
    const key = suspenseKey(about.id)
    const ask = (state?: string) => {
      deps.clock.advance(60)
      return send(deps, { ...about, updated_at: deps.now() }, state)
    }
    await ask()
    await resolveSuspense(deps, { suspenseId: about.id, operator: 'ana', resolution: 'answered' })
    await ask('dispute.under_review')
    await ask()
    if (how === 'lost') await erase(deps, key)
    else await alter(deps, key, how === 'changed' ? { amount_minor: 1 } : { cause: 1 })
    deps.clock.advance(120)

    await recount(deps, client)

    expect(await rawItem(deps, key)).toMatchObject({ status: 'open', state: 'action_required' })
    expect(await dueAtOf(deps, 'alert', about.id)).toBeDefined()
  },
)

it('a recount gives a resolved case the notes of its record', async ({ deps, client }) => {
  const { reference } = await creditedPayment(deps, client)
  const suspenseId = `mi-${deps.newId()}`
  await send(deps, { id: suspenseId, reference_id: reference })
  await resolveSuspense(deps, { suspenseId, operator: 'a', resolution: 'answered', notes: 'sent' })
  await alter(deps, suspenseKey(suspenseId), { notes: 'altered', amount_minor: 1 })
  deps.clock.advance(120)

  await recount(deps, client)

  const shown = { status: 'resolved', state: 'action_required', notes: 'sent' }
  expect(await rawItem(deps, suspenseKey(suspenseId))).toMatchObject(shown)
})

it('a recount brings two movements back, each with the time of its own event', async ({
  deps,
  client,
}) => {
  const { payment, ...paid } = await creditedPayment(deps, client)
  deps.provider.transactions.push(rowNow(deps, { payment, ...paid }))
  await syncRows(deps)
  const key = paymentKey(payment.paymentId)
  const before = await rawItem(deps, key)
  for (const transactionId of [`b-${deps.newId()}`, `a-${deps.newId()}`]) {
    deps.clock.advance(600)
    deps.provider.transactions.push(
      settledRow(paid, deps.now(), { ...refundFields, transactionId, amountMinor: minor(9_000) }),
    )
    await syncRows(deps)
  }
  const moved = await rawItem(deps, key)
  await putRaw(deps, before)
  deps.clock.advance(120)

  await recount(deps, client)

  expect(await rawItem(deps, key)).toStrictEqual(moved)
})

it.for([
  ['an open', 'unreadable'],
  ['a won', 'unreadable'],
  ['an older', 'unreadable'],
  ['an open', 'lost'],
])(
  'a recount brings %s dispute whose case is %s back as its payment shows it',
  async ([state, how], { deps, client }) => {
    const paid = await creditedPayment(deps, client)
    const about = { id: `mi-${deps.newId()}`, reference_id: paid.reference }
    const key = suspenseKey(about.id)
    await send(deps, about)
    if (state === 'a won') await send(deps, about, 'dispute.won')
    if (state === 'an older') await send(deps, { ...about, id: deps.newId() })
    const { dispute } = await paymentOf(deps, paid)
    const { due_at: _, ...stored } = await rawItem(deps, key)
    if (how === 'lost') await erase(deps, key)
    else await alter(deps, key, { cause: 1 })
    deps.clock.advance(120)

    await recount(deps, client)

    expect(await rawItem(deps, key)).toMatchObject(stored)
    expect((await paymentOf(deps, paid)).dispute).toStrictEqual(dispute)
  },
)

it('a recount brings back what a row that contradicts has moved, and its row of the register', async ({
  deps,
  client,
}) => {
  const { clientId } = client
  const payment = { paymentId: undefined, clientId }
  const item = finding({ subject: clientId, cause: 'row_contradicts', payment, now: deps.now() })
  await writeSuspense(deps, { ...item, providerMinor: minor(90_000) })
  const [key, noted] = [suspenseKey(item.suspenseId), notedKey(item)]
  const stored = async () => [await rawItem(deps, key), await rawItem(deps, noted)]
  const before = await stored()
  const standing = async () => (await standingOf(deps, client)).map(({ what }) => what)
  await alter(deps, noted, { cause: 'fee_assumed' })
  await auditWholeGateway(deps)
  expect(await standing()).toStrictEqual(['noted.cause'])
  await recount(deps, client)
  expect(await rawItem(deps, key)).toStrictEqual(before[0])
  await erase(deps, noted)
  await auditWholeGateway(deps)
  await auditClient(deps, clientId)
  expect(await standing()).toStrictEqual(['noted'])

  await recount(deps, client)
  await alter(deps, key, { owner: clientId })
  await recount(deps, client)

  expect(await stored()).toStrictEqual(before)
})

it('a recount puts a lost pointer, and names the altered event and the strange entry beside it', async () => {
  const { deps, client, payment } = await aLonePayment()
  const { paymentId, paymentDestination, createdAt } = payment
  const pointer = destinationKey(paymentDestination, createdAt, paymentId)
  await erase(deps, pointer)
  const { provider_transaction_id: _, ...entry } = await rawItem(deps, entryKeyOf(payment))
  await putRaw(deps, { ...entry, sk: `${String(entry['sk'])}x` })
  await alter(deps, succeededKey({ paymentId }), { client_id: 'x' })

  const { not_repairable: named } = await recount(deps, client)

  expect(named.map(({ what }) => what).toSorted()).toStrictEqual(['entry', 'event.client_id'])
  expect(await rawItem(deps, pointer)).toMatchObject({ payment_id: paymentId })
})
