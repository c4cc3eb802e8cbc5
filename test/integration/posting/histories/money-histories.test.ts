/**
 * Goal: a client always has what the provider let us keep for it, whenever the provider takes or returns money. Every
 * identity of the journal holds after every step. Method: random histories of one client's payments, postings,
 * assumed fees, refunds, disputes, voids, settlements, payouts, failures, re-credits, write-offs, races and deaths on the
 * real code. A model counts only what the provider took and gave. At the end all money is paid out. `HISTORIES` says how many; a failure prints the seed and the shortest history found that still fails.
 */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Entry } from '../../../../shared/journal/entry.ts'
import { getBalance } from '../../../../shared/ledger/ledger-store.ts'
import { readWindow } from '../../../../shared/ledger/window-store.ts'
import type { Payment } from '../../../../shared/payment/payment.ts'
import { addMs, DAY_MS } from '../../../../shared/time.ts'
import { modelOf } from '../../../support/money-model.ts'
import { entriesIn } from '../../../support/recount/entries-in.ts'
import { moneyProblemsOf } from '../../../support/recount/invariants.ts'
import { runs } from '../../../support/runs.ts'
import { fail, payOut, recredit, settle, settlementsOf } from '../../../support/settlement-builders.ts'
import { paymentOf } from '../../../support/synced-payment.ts'
import { type Happening, history } from './money-happenings.ts'
import { happen, hearAgain, type Kept, newWorld, type World } from './money-world.ts'

const HISTORIES = Number(process.env['HISTORIES'] ?? runs(80))
const SEED = Number(process.env['SEED'] ?? 20_261_122)

const seen = {
  deaths: 0,
  voidOpen: 0,
  assumed: 0,
  lateRows: 0,
  gone: 0,
  again: 0,
  owed: 0,
  writtenOff: 0,
  recredited: 0,
}

/** The model's sums of a payment. Only the order of the rows comes from the gateway. */
const standsOf = ({ payment: { notionalMinor }, rows }: Kept, { movements, providerFeeMinor }: Payment) => {
  const model = modelOf(notionalMinor, providerFeeMinor, Math.floor(notionalMinor / 1_000))
  for (const { type, transactionId } of movements) {
    const row = rows.find((one) => one.type === type && one.transactionId === transactionId)
    expect(row, `a movement of no row: ${type} ${transactionId}`).toBeDefined()
    if (row) model.hear(row)
  }
  return model.stands()
}

/** The fee that a payment must have: the fee of its row when it is actual, and its estimate otherwise. */
const feeOf = ({ payment, settledFee }: Kept, { feeStatus }: Payment): number =>
  feeStatus === 'actual' ? (settledFee ?? Number.NaN) : payment.providerFeeMinor

/** What our account at the provider must have gained by the rows of a payment that the gateway has read. */
const gainedBy = ({ payment, settledFee, isVoid, rows }: Kept, { ownRow, movements }: Payment): number => {
  const isUndone = (id: string) => movements.some((one) => one.type === 'reversal' && one.transactionId === id)
  const moved = movements
    .filter(({ type, transactionId }) => type !== 'reversal' && !isUndone(transactionId))
    .map(({ transactionId }) => rows.find((one) => one.transactionId === transactionId)?.leg ?? Number.NaN)
  const own = ownRow && !isVoid ? payment.notionalMinor - (settledFee ?? Number.NaN) : 0
  return moved.reduce((sum, leg) => sum + leg, own)
}

const sum = (entries: readonly Entry[], of: 'netMinor' | 'providerMinor') =>
  entries.reduce((total, entry) => total + entry[of], 0)

const expectSound = async (world: World) => {
  const { deps, client } = world
  expect(moneyProblemsOf(deps.stored.items())).toStrictEqual([])
  const entries = Map.groupBy(await entriesIn(deps, client), ({ paymentId }) => paymentId)
  let standing = 0
  for (const kept of world.payments) {
    const payment = await paymentOf(deps, kept)
    const [, , , netMinor = 0] = standsOf(kept, payment)
    standing += netMinor
    expect(payment.providerFeeMinor).toBe(feeOf(kept, payment))
    if (payment.openAt !== undefined) continue
    const own = entries.get(payment.paymentId) ?? []
    expect(sum(own, 'providerMinor')).toBe(gainedBy(kept, payment))
    expect(
      sum(
        own.filter(({ type }) => type !== 'written_off'),
        'netMinor',
      ),
    ).toBe(netMinor)
  }
  const { pendingMinor, availableMinor, inSettlementMinor, paidOutMinor } = await getBalance(deps, client.clientId)
  const { writtenOffMinor } = await readWindow(deps, client.clientId)
  expect(writtenOffMinor).toBeGreaterThanOrEqual(0)
  expect(pendingMinor + availableMinor + inSettlementMinor + paidOutMinor).toBe(standing + writtenOffMinor)
}

/** The sync reads every row, every payment is posted, a payment covers the debt, and failed settlements are paid. */
const comeToRest = async (world: World) => {
  const { deps, client } = world
  await happen(world, { do: 'pay', amounts: [1_000_000_000] })
  deps.clock.set(addMs(deps.now(), 3 * DAY_MS))
  await hearAgain(world)
  for (const which of world.payments.keys()) {
    await happen(world, { do: 'move', move: { do: 'post', which, feeMinor: 4_440 } })
    await happen(world, { do: 'move', move: { do: 'assume', which } })
  }
  for (let day = 0; day < 3; day++) {
    deps.clock.set(addMs(deps.now(), DAY_MS))
    await settle(deps, client)
    for (const settlement of await settlementsOf(deps, client)) {
      if (settlement.status === 'recorded') await (day === 0 ? fail : payOut)(deps, settlement)
    }
    for (const settlement of await settlementsOf(deps, client)) {
      if (settlement.status === 'failed' && settlement.recreditedAt === undefined) await recredit(deps, settlement)
    }
  }
  await expectSound(world)
  const { updatedAt: _, ...figures } = await getBalance(deps, client.clientId)
  expect(figures).toMatchObject({ pendingMinor: 0, availableMinor: 0, inSettlementMinor: 0 })
}

const count = async ({ deps, client, payments, deaths }: World) => {
  const stored = await Promise.all(payments.map((kept) => paymentOf(deps, kept)))
  const entries = await entriesIn(deps, client)
  const some = (is: boolean) => (is ? 1 : 0)
  seen.deaths += deaths
  seen.voidOpen += some(stored.some(({ voidedOpen }) => voidedOpen === true))
  seen.assumed += some(stored.some(({ feeStatus }) => feeStatus === 'assumed'))
  seen.lateRows += some(entries.some(({ type }) => type === 'late_row'))
  seen.gone += some(stored.some(({ takenBackMinor }) => takenBackMinor > 0))
  seen.again += some(stored.some(({ reversal }) => reversal?.undoneAt !== undefined))
  seen.writtenOff += some(entries.some(({ type, netMinor }) => type === 'written_off' && netMinor > 0))
  seen.recredited += some(entries.some(({ type }) => type === 'recredit'))
}

const live = async (happenings: readonly Happening[]) => {
  const world = await newWorld()
  let wasOwed = false
  for (const happening of happenings) {
    await happen(world, happening)
    await expectSound(world)
    const { pendingMinor } = await getBalance(world.deps, world.client.clientId)
    wasOwed ||= pendingMinor < 0
  }
  if (wasOwed) seen.owed++
  await count(world)
  await comeToRest(world)
}

it(`a client has what the provider let us keep for it, ${HISTORIES} times`, async () => {
  await fc.assert(fc.asyncProperty(history, live), { seed: SEED, numRuns: HISTORIES })

  // The test proves something only if the interesting cases occur.
  for (const [what, times] of Object.entries(seen)) expect([what, times > HISTORIES / 100]).toStrictEqual([what, true])
}, 600_000)
