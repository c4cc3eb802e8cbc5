/**
 * Goal: whatever the provider takes back and gives again, at whatever moment, what a client is paid is what the provider let
 * us keep for it, or an open item says who owes what; and the books balance after every step. Method: random
 * histories of payments, fees, money that goes back and comes again, settlements, payouts, failures, re-credits, operators,
 * races and deaths on the real code, beside a model that only counts what the provider has taken and given. At the end
 * everything that can be paid out is. A failure prints the seed and the shortest history found that still fails.
 */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { settlementStatement } from '../../../../shared/settlement/statement/settlement-statement.ts'
import type { Suspense } from '../../../../shared/suspense/suspense.ts'
import { addMs, DAY_MS } from '../../../../shared/time.ts'
import { booksOf, ledgerProblems, reversalProblems, sum } from '../../../support/books.ts'
import { expectBalanced } from '../../../support/expect-balanced.ts'
import { runs } from '../../../support/runs.ts'
import { leftOutProblems, settlementProblems } from '../../../support/settlement-books.ts'
import { fail, recredit, settle, settlementsOf } from '../../../support/settlement-builders.ts'
import { paymentOf } from '../../../support/synced-payment.ts'
import { type Happening, history } from './reversal-happenings.ts'
import {
  allSuspense,
  happen,
  hearAgain,
  type Kept,
  makeFeeKnown,
  newWorld,
  payOut,
  type World,
} from './reversal-world.ts'

const HISTORIES = runs(200)
const SEED = 20_261_121

const seen = { deaths: 0, paid: 0, gone: 0, again: 0, owed: 0, told: 0 }

const expectSound = ({ deps }: World) => {
  const books = booksOf(deps.memory.items())
  const checks = [ledgerProblems, settlementProblems, leftOutProblems, reversalProblems]
  expect(checks.flatMap((problemsOf) => problemsOf(books))).toStrictEqual([])
}

/** Everything that may be paid out is; what failed is paid after all. */
const comeToRest = async (world: World) => {
  const { deps, client, payments } = world
  for (const kept of payments) await makeFeeKnown(world, kept)
  for (let day = 0; day < 4; day++) {
    deps.clock.set(addMs(deps.now(), DAY_MS))
    await hearAgain(world)
    await settle(deps, client)
    for (const settlement of await settlementsOf(deps, client)) {
      if (settlement.status === 'failed' && settlement.recreditedAt === undefined) await recredit(deps, settlement)
      if (settlement.status === 'recorded') await (day === 0 ? fail : payOut)(deps, settlement)
    }
    expectSound(world)
  }
}

/** What was paid out of each payment, by the statements of settlements that were. */
const paidOut = async ({ deps, client }: World): Promise<ReadonlyMap<string, number>> => {
  const paid = new Map<string, number>()
  for (const { settlementId, status } of await settlementsOf(deps, client)) {
    if (status !== 'manual_paid') continue
    const statement = await settlementStatement(deps, { settlementId, cursor: undefined, format: 'json' })
    const lines = 'payments' in statement ? statement.payments : []
    for (const line of lines) paid.set(line.payment_id, (paid.get(line.payment_id) ?? 0) + line.net_minor)
  }
  return paid
}

/** Somebody is asked to look. */
const FOR_A_PERSON = ['left_out_though_closed', 'undone_though_closed', 'undone_unclear', 'reversed_upstream']

const owedOf = (items: readonly Suspense[], is: (item: Suspense) => boolean) =>
  items
    .filter((item) => item.kind === 'receivable' && is(item))
    .reduce((total, item) => total + (item.amountMinor ?? 0), 0)

const byHand = ({ status, leftOutBy, reinstatedBy }: Suspense) =>
  status === 'resolved' && leftOutBy === undefined && reinstatedBy === undefined

const expectOwn = async ({ deps }: World, kept: Kept, items: readonly Suspense[], paidMinor: number) => {
  const { netMinor, reversal } = await paymentOf(deps, kept)
  if (reversal?.wholeAt !== undefined) seen.gone++
  if (reversal?.undoneAt !== undefined) seen.again++
  if (items.some(({ cause, status }) => status === 'open' && FOR_A_PERSON.includes(cause))) {
    seen.told++
    return
  }
  const keptMinor = kept.wholes > 0 ? 0 : netMinor - kept.partsMinor
  const owedMinor = owedOf(items, ({ status }) => status === 'open')
  const recoveredMinor = owedOf(items, (item) => byHand(item) && item.resolution === 'recovered')
  const writtenOffMinor = owedOf(items, (item) => byHand(item) && item.resolution === 'written_off')
  if (paidMinor > 0) seen.paid++
  if (owedMinor > 0) seen.owed++
  expect(paidMinor - recoveredMinor).toBe(keptMinor + owedMinor + writtenOffMinor)
}

const live = async (happenings: readonly Happening[]) => {
  const world = await newWorld()
  for (const happening of happenings) {
    await happen(world, happening)
    expectSound(world)
  }
  await comeToRest(world)
  const { windows, shards } = booksOf(world.deps.memory.items())
  expect(sum(shards, 'credited_minor') - sum(windows, 'settled_minor')).toBe(0)
  expect([sum(windows, 'available_minor'), sum(windows, 'in_settlement_minor')]).toStrictEqual([0, 0])
  const [items, paid] = [await allSuspense(world.deps), await paidOut(world)]
  expect(items.length).toBeLessThan(100)
  for (const kept of world.payments) {
    const { paymentId } = kept.payment
    const own = items.filter((item) => item.paymentId === paymentId)
    await expectOwn(world, kept, own, paid.get(paymentId) ?? 0)
  }
  await expectBalanced(world.deps, world.client.clientId)
  seen.deaths += world.deaths
}

it(`pays out what the provider let us keep, or says who owes what, ${HISTORIES} times`, async () => {
  await fc.assert(fc.asyncProperty(history, live), {
    seed: SEED,
    numRuns: HISTORIES,
    interruptAfterTimeLimit: 540_000,
    markInterruptAsFailure: true,
  })

  // The histories are worth something only if the interesting things happen in them.
  for (const [what, times] of Object.entries(seen)) expect([what, times > HISTORIES / 10]).toStrictEqual([what, true])
}, 600_000)
