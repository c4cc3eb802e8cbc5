/**
 * Goal: a recount is not misled by rows that nothing explains, and writes unreadable ones anew,
 * with few calls of the provider.
 */
import { expect } from 'vitest'
import { derivedUuid } from '../../../shared/ids.ts'
import type { Entry } from '../../../shared/journal/entry.ts'
import { entryRow } from '../../../shared/journal/entry-store.ts'
import { readLedger } from '../../../shared/ledger/ledger-store.ts'
import { less, minor } from '../../../shared/money.ts'
import { approve } from '../../../shared/operator/approve.ts'
import { paymentRow } from '../../../shared/payment/creating-store.ts'
import { holdMoney } from '../../../shared/payment/held-money.ts'
import { creditedPayment as credited } from '../../../shared/payment/news/succeed-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { payoutFile } from '../../../shared/payout/payout-file.ts'
import { adjustmentEntry } from '../../../shared/posting/adjust-ledger.ts'
import { bookSuspense } from '../../../shared/posting/house-journal.ts'
import { planPosting } from '../../../shared/posting/post-payments.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import { recreditEntry } from '../../../shared/settlement/recredit-settlement.ts'
import { returnedEntry } from '../../../shared/settlement/return-payout.ts'
import { entryKey, paymentKey, settlementKey, suspenseKey } from '../../../shared/table/keys.ts'
import { dueWork, put } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import {
  adjustBalance,
  aHouseRow,
  aWithdrawal,
  bookRefund,
  entryKeyOf,
  entryOf,
  someHeldMoney,
} from '../../support/money-rows.ts'
import { aSucceededPayment, settledRowFor } from '../../support/paid-builders.ts'
import { aPendingPayment, payFirst } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aLonePayment,
  auditedNow,
  fail,
  payOut,
  recredit,
  settledAmount,
  settlementsOf,
  sweptADayLater,
} from '../../support/settlement-builders.ts'
import { creditedPayment, expectSuspense, paymentOf } from '../../support/synced-payment.ts'
import {
  alter,
  alterSettlement,
  erase,
  keyOfRow,
  putRaw,
  rawItem,
} from '../../support/tampering.ts'
import { APPROVER, approvePayout, askedApproval } from '../../support/with-approval.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { differencesOf, recount } from './torn-world.ts'

it('a recount of many payments leaves the provider’s quota for the call that writes', async ({
  deps,
  client,
}) => {
  for (let count = 0; count < 51; count++) {
    await erase(deps, entryKeyOf(await aSucceededPayment(deps, client)))
  }
  const { getPayment } = deps.provider.healthy
  let quota = 110
  deps.provider.script('getPayment', async (...asked) =>
    --quota < 0 ? { kind: 'unanswered', reason: 'rate_limited' } : getPayment(...asked),
  )

  expect((await recount(deps, client)).left).toHaveLength(1)

  quota = 110
  expect((await recount(deps, client)).left).toStrictEqual([])
})

/** Goal: a recount makes no forged row money, and no lost payout due again. */
async function world() {
  const { deps, client, payment } = await aLonePayment()
  return { deps, client, payment, settlement: await sweptADayLater(deps, client) }
}
type World = Awaited<ReturnType<typeof world>>

function putPayment({ deps }: World, payment: Payment) {
  return deps.table.write(put(paymentKey(payment.paymentId), paymentRow(payment)))
}

function putRow({ deps, client }: World, entry: Entry) {
  return deps.table.write(put(entryKey(client.clientId, entry), entryRow(entry)))
}

/** As a row that the provider does not have would post it. */
async function postedFree({ deps, client }: World) {
  const { payment } = await creditedPayment(deps, client)
  const row = settledRowFor(payment, { feeMinor: 0 })
  return planPosting({ payment, by: { row } }, deps.now()).after
}

function loseType({ deps, payment }: World) {
  return alter(deps, entryKeyOf(payment), { type: undefined })
}

/** Into the payment and its entry. */
async function putFee(forged: World, fee: number) {
  const { deps, payment } = forged
  const row = settledRowFor(payment, { feeMinor: fee })
  const { transactionId, providerMinor, feeMinor: providerFeeMinor } = row
  const netMinor = less(providerMinor, payment.markupMinor)
  const finalFee = { status: 'actual', feeMinor: providerFeeMinor, at: deps.now() } as const
  const figures = { providerFeeMinor, netMinor, finalFee }
  const altered = { ...payment, ...figures, ownRow: { transactionId, providerMinor } }
  await putPayment(forged, altered)
  await putRow(forged, entryOf(altered))
}

const FORGED: Readonly<Record<string, (forged: World) => Promise<unknown>>> = {
  'the entry of an open payment': async (forged) =>
    putRow(forged, entryOf(await postedFree(forged))),
  'the posting of an open payment': async (forged) => putPayment(forged, await postedFree(forged)),
  'a success': async (forged) => {
    const { deps, client } = forged
    const payment = await aPendingPayment(deps, client)
    const { providerPaymentId } = payFirst(deps)
    const capture = deps.provider.payments.get(providerPaymentId)
    deps.provider.payments.delete(providerPaymentId)
    if (capture === undefined) throw new Error('nothing was paid')
    const success = { capture, at: deps.now(), source: 'callback' } as const
    await putPayment(forged, credited(deps, payment, success))
  },
  'the fee of a settled payment, with its entry': (forged) => putFee(forged, 0),
  'a re-credit of a recorded settlement': async (forged) => {
    await approvePayout(forged.deps, forged.settlement, { owed: 1 })
    return putRow(forged, recreditEntry(forged.settlement, forged.deps.now()))
  },
  'a re-credit of a paid settlement': async (forged) =>
    putRow(forged, recreditEntry(await payOut(forged.deps, forged.settlement), forged.deps.now())),
  'a return': async (forged) =>
    putRow(forged, returnedEntry(await payOut(forged.deps, forged.settlement), forged.deps.now())),
  'a refund that the provider does not show': async ({ deps, payment }) => {
    await bookRefund(deps, payment, 1_000, 'txn-forged')
    await erase(deps, entryKeyOf(await paymentOf(deps, { payment }), 'refund'))
  },
  'the loss of a settlement whose file the bank may have': async ({ deps, settlement }) => {
    await auditedNow(deps, settlement)
    await payoutFile(deps, { operator: APPROVER, format: 'csv' })
    await erase(deps, settlementKey(settlement.settlementId))
  },
  'the loss of a settlement after one in no list': async ({ deps, client, settlement }) => {
    await fail(deps, settlement)
    const { settlementId } = await settledAmount(deps, client)
    await alterSettlement(deps, settlement, { id: undefined })
    await erase(deps, settlementKey(settlementId))
  },
  'the time of a posting that was paid out': async ({ deps, payment, settlement }) => {
    await payOut(deps, settlement)
    await alter(deps, paymentKey(payment.paymentId), { posted_at: deps.now() })
  },
  'the time of a re-credit': async ({ deps, settlement }) => {
    await recredit(deps, await fail(deps, settlement))
    deps.clock.advance(1)
    await alterSettlement(deps, settlement, { recredited_at: deps.now() })
  },
  'the time of an adjustment in its record': async ({ deps, client }) => {
    await adjustBalance(deps, client, 'correction', 5_000)
    deps.clock.advance(1)
    const records = deps.stored.items(`AUDIT#${client.clientId}`)
    const record = records.find(({ action }) => action === 'adjust-ledger')
    const after = { ...Object(record?.['after']), eligible_at: deps.now() }
    await putRaw(deps, { ...record, after })
  },
  'an open payment that names another client': async ({ deps, client }) => {
    const { payment } = await creditedPayment(deps, client)
    await alter(deps, paymentKey(payment.paymentId), { owner: crypto.randomUUID() })
  },
  'an open payment that is in no list': async ({ deps, client }) => {
    const { payment } = await creditedPayment(deps, client)
    await alter(deps, paymentKey(payment.paymentId), { id: undefined })
  },
  'a correction': (forged) => forgeCorrection(forged, 9_000_000),
  'a correction by a withdrawal': async (forged) =>
    forgeCorrection(forged, -1, await aWithdrawal(forged.deps)),
  'an entry without its type': async (forged) => {
    const payment = await aSucceededPayment(forged.deps, forged.client)
    await loseType({ ...forged, payment })
  },
  'a settled entry without its type': loseType,
  'the loss of a paid settlement and its records': async ({ deps, settlement }) => {
    const { settlementId } = await payOut(deps, settlement)
    for (const pk of [`SETTLEMENT#${settlementId}`, `AUDIT#${settlementId}`])
      for (const row of deps.stored.items(pk)) await erase(deps, keyOfRow(row))
  },
}

function forgeCorrection(forged: World, amount: number, row?: ReturnType<typeof aHouseRow>) {
  const { deps, client } = forged
  const own = { entryId: derivedUuid('adjustment', client.clientId, 'R-1'), eligibleAt: deps.now() }
  const given = { ...client, ...own, kind: 'correction', reference: 'R-1' } as const
  const figures = { amountMinor: minor(amount), providerTransactionId: row?.transactionId }
  return putRow(forged, adjustmentEntry({ ...given, ...figures }, row))
}

it.each(Object.entries(FORGED))('a recount is not misled by %s', async (_, forge) => {
  const forged = await world()
  const { deps, client } = forged
  await forge(forged)
  deps.clock.advance(120)
  const before = await readLedger(deps, client.clientId)
  const settlements = await settlementsOf(deps, client)
  const journal = deps.stored.items('JOURNAL#')

  for (let time = 0; time < 2; time++) await recount(deps, client)

  expect(await readLedger(deps, client.clientId)).toStrictEqual(before)
  expect(await settlementsOf(deps, client)).toStrictEqual(settlements)
  expect(deps.stored.items('JOURNAL#')).toStrictEqual(journal)
  expect(await differencesOf(deps, client)).not.toStrictEqual([])
})

it.for(['before', 'after'])('a recount writes a return that is approved %s it', async (when) => {
  const forged = await world()
  const { deps, client, settlement } = forged
  const payload = { settlement_id: settlement.settlementId }
  const asked = { action: 'return-payout', payload } as const
  if (when === 'before') await approve(deps, { ...asked, operator: APPROVER })
  deps.clock.advance(3_600)
  await FORGED['a return']?.(forged)
  deps.clock.advance(120)
  const { left } = await recount(deps, client)
  expect(askedApproval(left[0]?.why)).toStrictEqual(when === 'after' ? asked : undefined)
  if (when === 'after') await approve(deps, { ...asked, operator: APPROVER })

  await recount(deps, client)

  expect(await settlementsOf(deps, client)).toMatchObject([{ returnedAt: expect.any(String) }])
  await expectBalanced(deps, client)
})

async function alteredHold({ deps, payment }: World, fields: object) {
  await holdMoney(
    deps,
    someHeldMoney(deps, 'py-second', 5_000, { cause: 'second_capture', payment }),
  )
  await alter(deps, suspenseKey('py-second'), fields)
  deps.clock.advance(120)
}

it('a recount plans no write that changes nothing', async () => {
  const held = await world()
  const alertAt = addMs(held.deps.now(), 400 * DAY_MS)
  const { dueAt: due_at, ...work } = dueWork('alert', 'py-second', alertAt)
  await alteredHold(held, { ...work, due_at })

  expect((await recount(held.deps, held.client)).written).toStrictEqual([])
})

it('a recount writes an unreadable item of suspense anew, as its register, its entries and its trail say', async () => {
  const held = await world()
  const { deps, client, payment } = held
  const item = someHeldMoney(deps, 'py-resolved', 5_000, { cause: 'second_capture', payment })
  await holdMoney(deps, item)
  await bookSuspense(deps, item, aHouseRow(deps, 'txn-held', 5_000))
  await resolveSuspense(deps, {
    ...item,
    operator: 'ana',
    resolution: 'written_off',
    notes: 'too old',
  })
  const stored = await rawItem(deps, suspenseKey('py-resolved'))
  await expectBalanced(deps, client)
  await alter(deps, suspenseKey('py-resolved'), { status: 'gone', amount_minor: '5000' })
  await alteredHold(held, { kind: 'unknown' })

  expect(await recount(deps, client)).toMatchObject({ left: [], not_repairable: [] })

  const after = await rawItem(deps, suspenseKey('py-resolved'))
  expect(after).toStrictEqual({ ...stored, refunded_minor: 0 })
  await expectSuspense(deps, 'py-second', { kind: 'money', status: 'open' })
  await expectBalanced(deps, client)
})

it('a recount books no refund by bank that nobody has approved', async () => {
  const held = await world()
  await alteredHold(held, { status: 'resolved', resolution: 'refunded_by_bank' })

  await recount(held.deps, held.client)

  expect(held.deps.stored.items('JOURNAL#house')).toStrictEqual([])
})

it('an audit names a fee that the sync would not book', async () => {
  const forged = await world()
  await putFee(forged, -1)

  const names = (await differencesOf(forged.deps, forged.client)).map(({ what }) => what)

  expect(names).toContain('payment.provider_fee_minor')
})
