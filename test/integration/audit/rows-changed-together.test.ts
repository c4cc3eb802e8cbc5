/** Goal: money that rows changed together would move stays in the house. */
import { expect } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditGateway } from '../../../shared/audit/audit-gateway.ts'
import type { Client } from '../../../shared/client/client.ts'
import { GatewayError } from '../../../shared/errors.ts'
import type { Entry } from '../../../shared/journal/entry.ts'
import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { negated } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { recreditEntry } from '../../../shared/settlement/recredit-settlement.ts'
import { entryAgainOf } from '../../../shared/settlement/return-payout.ts'
import {
  entryKey,
  type Key,
  paymentKey,
  settlementKey,
  shardKey,
  windowKey,
} from '../../../shared/table/keys.ts'
import { adjustBalance, bookRefund, entryKeyOf, entryOf } from '../../support/money-rows.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { ledgerView } from '../../support/payment-builders.ts'
import {
  aDayLater,
  aLonePayment,
  aSettledClient,
  BY_OPERATOR,
  fail,
  inSteps,
  recredit,
  standingOf,
  sweptADayLater,
  sweptNow,
} from '../../support/settlement-builders.ts'
import { alter, erase, putRaw, rawItem } from '../../support/tampering.ts'
import { type TestDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'

const MORE = 1_000_000
const MORE_MARKUP = MORE / 1_000
const A_WEEK = 7

async function raise(deps: TestDeps, key: Key, by: Readonly<Record<string, number>>) {
  const row = await rawItem(deps, key)
  const raised = Object.entries(by).map(([name, more]) => [name, Number(row[name] ?? 0) + more])
  await alter(deps, key, Object.fromEntries(raised))
}

function raiseShard(deps: TestDeps, payment: Payment, more: number) {
  return raise(deps, shardOf(payment), { credited_minor: more })
}

const FIGURES = { markup_minor: MORE_MARKUP, net_minor: MORE - MORE_MARKUP }

function raiseEntry(deps: TestDeps, payment: Payment) {
  const figures = { gross_minor: MORE, provider_minor: MORE, ...FIGURES }
  return raise(deps, entryKeyOf(payment), figures)
}

async function raiseWithEntry(deps: TestDeps, payment: Payment) {
  await raise(deps, paymentKey(payment.paymentId), { notional_minor: MORE, ...FIGURES })
  await raiseEntry(deps, payment)
}

/** Answers its entry in the journal. */
async function refunded(deps: TestDeps, payment: Payment) {
  deps.clock.advance(60)
  await bookRefund(deps, payment, 60_000)
  const moved = await findStoredPayment(deps, payment.paymentId)
  if (moved?.status !== 'succeeded') throw new Error('the payment was not refunded')
  return entryOf(moved, 'refund')
}

async function loseRefund(deps: TestDeps, payment: Payment, refund: Entry) {
  await erase(deps, entryKey(payment.clientId, refund))
  await raiseShard(deps, payment, negated(refund.netMinor))
}

async function nightOf(deps: TestDeps, { clientId }: Client) {
  deps.clock.advance(120)
  await auditGateway(deps)
  await auditClient(deps, clientId)
  return (await standingOf(deps, { clientId })).map(({ what }) => what)
}

/** What the payout pays, or which differences refuse it. */
async function paidOf(deps: TestDeps, { settlementId }: { readonly settlementId: string }) {
  const bankReference = `BCA ${settlementId}`
  const asked = { settlementId, ...BY_OPERATOR, bankReference }
  try {
    return (await markSettlementPaid(deps, asked)).netMinor
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return error.details.fieldErrors?.['differences']?.map((one) => one.split(' ')[0]) ?? error
  }
}

async function nextDay(deps: TestDeps, client: Client) {
  aDayLater(deps)
  const settlement = await sweptNow(deps, client)
  const named = await nightOf(deps, client)
  return { named, paid: await paidOf(deps, settlement) }
}

async function aClientWithTwo() {
  const { deps, client, payment } = await aLonePayment()
  await aSucceededPayment(deps, client)
  return { deps, client, payment }
}

const it = testWith(aClientWithTwo, 'deps', 'client', 'payment')

it.for([
  ['is named by its payment', false],
  ['of a payment that was settled before is named by the register', true],
] as const)(
  'a lost refund %s, though a shard was raised by its net',
  async ([, isSettled], { deps, client, payment }) => {
    if (isSettled) {
      expect(await nextDay(deps, client)).toMatchObject({ paid: 2 * 95_900 })
      await aSucceededPayment(deps, client)
    }
    await loseRefund(deps, payment, await refunded(deps, payment))

    expect(await nextDay(deps, client)).toStrictEqual({ named: ['entry'], paid: ['entry'] })
  },
)

it('the payout misses a refund that was lost when it was no longer new', async ({
  deps,
  client,
  payment,
}) => {
  await nextDay(deps, client)
  await aSucceededPayment(deps, client)
  const refund = await refunded(deps, payment)
  for (let day = 0; day < A_WEEK; day++) {
    aDayLater(deps)
    expect(await nightOf(deps, client)).toStrictEqual([])
  }
  await loseRefund(deps, payment, refund)

  expect(await nextDay(deps, client)).toMatchObject({ paid: ['entry'] })
})

it('a payment that was raised with its entry and its shard is named by its event', async ({
  deps,
  client,
  payment,
}) => {
  await raiseWithEntry(deps, payment)
  await raiseShard(deps, payment, MORE - MORE_MARKUP)

  expect(await nextDay(deps, client)).toMatchObject({ paid: ['event.body'] })
})

it('a recount raises no balance to a payment that was raised with its entry', async ({
  deps,
  client,
  payment,
}) => {
  const { clientId } = client
  await raiseWithEntry(deps, payment)
  const before = await ledgerView(deps, { clientId })
  deps.clock.advance(60)

  const { writes, left, not_repairable } = await recountLedger(deps, { clientId, operator: 'ana' })

  expect({ writes, left, not_repairable }).toMatchObject({
    writes: [],
    left: [{ id: clientId, why: expect.stringContaining('figures wait') }],
    not_repairable: [{ what: 'event.body', id: payment.paymentId }],
  })
  expect(await ledgerView(deps, { clientId })).toStrictEqual(before)
  const standing = await standingOf(deps, { clientId })
  expect(standing.map(({ what }) => what)).toStrictEqual(['ledger.credited_minor', 'event.body'])
})

it('a re-credit that was raised with its settlement is not paid', async () => {
  const { deps, client, settlement } = await aSettledClient()
  await fail(deps, settlement)
  const recredited = await recredit(deps, settlement)
  const entry = recreditEntry(recredited, recredited.recreditedAt ?? deps.now())
  const { grossMinor, netMinor } = recredited
  const raised = { grossMinor: grossMinor + MORE, netMinor: netMinor + MORE }
  await alter(deps, entryKey(client.clientId, entry), { carried: { ...entry.carried, ...raised } })
  const source = settlementKey(settlement.settlementId)
  await raise(deps, source, { gross_minor: MORE, net_minor: MORE })
  await raise(deps, windowKey(client.clientId), { available_minor: MORE })

  const { paid } = await nextDay(deps, client)

  expect(paid).toContain('settlement.net_minor')
  expect((await auditLedger(deps, client.clientId)).balanced).toBe(false)
})

it.for([true, false])(
  'an entry that was copied to a later time is not paid again: a re-credit %j',
  async (isAgain, { deps, client }) => {
    const { clientId } = client
    const { entry } = await adjustBalance(deps, client, 'correction', MORE)
    const failed = await fail(deps, await sweptADayLater(deps, client))
    const copied = (isAgain && entryAgainOf(await recredit(deps, failed))) || entry
    await aSucceededPayment(deps, client)
    await nextDay(deps, client)
    await aSucceededPayment(deps, client)
    const row = await rawItem(deps, entryKey(clientId, copied))
    await putRaw(deps, { ...row, sk: `${deps.now()}#${copied.entryId}` })
    if (isAgain) await raise(deps, windowKey(clientId), { available_minor: failed.netMinor })
    else await raise(deps, shardKey(clientId, 0), { credited_minor: MORE })

    expect(await nextDay(deps, client)).toMatchObject({ paid: ['entry.key'] })
  },
)

it.for([1_000, 1])(
  'names of a later release hide no raised entry in pages of %d',
  async (rows, { deps: own, client, payment }) => {
    const deps = inSteps(own, rows, 1_000)
    const names = Array.from({ length: 1_000 }, (_, at) => [`later_${at}`, 1])
    await alter(deps, paymentKey(payment.paymentId), Object.fromEntries(names))
    deps.clock.advance(1)
    const raised = await aSucceededPayment(deps, client)
    await raiseEntry(deps, raised)
    await raiseShard(deps, raised, FIGURES.net_minor)

    expect((await nextDay(deps, client)).paid).toContain('entry.net_minor')
  },
)
