/**
 * Goal: one operator who lies makes nothing leave the house that the merchant was not owed, as long
 * as the second person approves only what is true. Method: random histories of payments, rows that
 * take money back, and false and true actions. What the merchant is owed is counted here, from what
 * really happened, and compared at every transfer.
 */
import { expect, it } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { GatewayError } from '../../../shared/errors.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { markSettlementFailed } from '../../../shared/payout/mark-settlement-failed.ts'
import { payoutFigures } from '../../../shared/payout/payout-figures.ts'
import { passGate } from '../../../shared/payout/payout-gate.ts'
import { adjustLedger } from '../../../shared/posting/adjust-ledger.ts'
import { recreditSettlement } from '../../../shared/settlement/recredit-settlement.ts'
import { returnPayout } from '../../../shared/settlement/return-payout.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { createPrng, type Prng } from '../../simulation/world/prng.ts'
import { bookRefund } from '../../support/money-rows.ts'
import { anAssumedPayment, anOpenPayment, aSucceededPayment } from '../../support/paid-builders.ts'
import { runs } from '../../support/runs.ts'
import {
  aLoneClient,
  auditedNow,
  BY_OPERATOR,
  payOut,
  settlementsOf,
  sweepADayLater,
} from '../../support/settlement-builders.ts'
import { type TestDeps } from '../../support/test-deps.ts'
import { type Asked, withApproval } from '../../support/with-approval.ts'

type Truth = {
  /** Nets of captured money, less what went back, plus what was really agreed. */
  owedMinor: number
  transferredMinor: number
  /** The settlements whose transfer went out. */
  readonly sent: Set<string>
  /** What is true: references of adjustments, and settlements whose transfer came back. */
  readonly agreed: Set<string>
  readonly payments: { readonly payment: Payment; leftMinor: number }[]
}

type World = {
  readonly deps: TestDeps
  readonly client: Client
  readonly prng: Prng
  readonly truth: Truth
  readonly approves: (asked: Asked) => boolean
}

const STEPS = [
  sell,
  sell,
  sellUnproven,
  refund,
  refund,
  adjust,
  adjust,
  settle,
  settle,
  pay,
  pay,
  pay,
  failAfterTransfer,
  recredit,
  bringBack,
]

const HISTORIES = runs(12)

it('nothing is transferred beyond what the merchant is owed, with one honest approver', async () => {
  let [transfers, refusals] = [0, 0]
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const world = await aWorld(seed)
    for (let step = 0; step < 30; step++) {
      const before = world.truth.transferredMinor
      try {
        await world.prng.pick(STEPS)(world)
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        refusals++
      }
      const { transferredMinor, owedMinor } = world.truth
      if (transferredMinor <= before) continue
      transfers++
      expect(transferredMinor, `seed ${seed}, step ${step}`).toBeLessThanOrEqual(owedMinor)
    }
  }
  expect([transfers > HISTORIES / 3, refusals > 3 * HISTORIES]).toStrictEqual([true, true])
})

async function aWorld(seed: number) {
  const { deps, client } = await aLoneClient()
  const truth: Truth = {
    owedMinor: 0,
    transferredMinor: 0,
    sent: new Set(),
    agreed: new Set(),
    payments: [],
  }
  const approves = ({ action, payload }: Asked) => {
    const id = String(payload['settlement_id'])
    // What no row proves, or the merchant owes elsewhere, is not paid out.
    if (action === 'mark-settlement-paid')
      return payload['unproven'] === undefined && payload['owed'] === undefined
    return action === 'recredit-settlement'
      ? !truth.sent.has(id)
      : truth.agreed.has(String(payload['reference'] ?? id))
  }
  return { deps, client, prng: createPrng(seed), truth, approves }
}

async function sell({ deps, client, prng, truth }: World) {
  const payment = await aSucceededPayment(deps, client, {
    notionalMinor: prng.int(50_000, 200_000),
  })
  truth.owedMinor += payment.netMinor
  truth.payments.push({ payment, leftMinor: payment.netMinor })
}

/** The provider has captured the money, and has not settled it. */
async function sellUnproven({ deps, client, prng, truth }: World) {
  const make = prng.chance(0.7) ? anAssumedPayment : anOpenPayment
  truth.owedMinor += (await make(deps, client)).netMinor
}

async function refund({ deps, prng, truth }: World) {
  const sold = truth.payments.at(-1)
  if (sold === undefined) return
  const amount = prng.int(1_000, 150_000)
  await bookRefund(deps, sold.payment, amount)
  const takenMinor = Math.min(sold.leftMinor, amount)
  sold.leftMinor -= takenMinor
  truth.owedMinor -= takenMinor
}

async function adjust({ deps, client: { clientId }, prng, truth, approves }: World) {
  const kind = prng.pick(['correction', 'recovered', 'written_off'] as const)
  const amountMinor = minor(prng.int(-60_000, 60_000) || 1)
  const reference = deps.newId()
  const isAgreed = prng.chance(0.2)
  if (isAgreed) truth.agreed.add(reference)
  const { operator } = BY_OPERATOR
  await withApproval(
    deps,
    () => adjustLedger(deps, { clientId, kind, amountMinor, reference, operator }),
    approves,
  )
  if (isAgreed) truth.owedMinor += amountMinor
}

async function settle({ deps, client }: World) {
  await sweepADayLater(deps, client)
}

async function aSettlement({ deps, client, prng }: World, status: Settlement['status']) {
  const some = (await settlementsOf(deps, client)).filter((one) => one.status === status)
  return some.length === 0 ? undefined : prng.pick(some)
}

function transfer({ truth }: World, { settlementId, netMinor }: Settlement) {
  truth.sent.add(settlementId)
  truth.transferredMinor += netMinor
}

async function pay(world: World) {
  const { deps, approves } = world
  const settlement = await aSettlement(world, 'recorded')
  if (settlement === undefined) return
  await payOut(deps, settlement, approves)
  transfer(world, settlement)
}

/** The transfer of a settlement that needs no approval goes out, and is denied. */
async function failAfterTransfer(world: World) {
  const { deps, prng } = world
  const settlement = await aSettlement(world, 'recorded')
  if (settlement === undefined) return
  if (prng.chance(0.5)) {
    await auditedNow(deps, settlement)
    await passGate(deps, settlement)
    const figures = await payoutFigures(deps, settlement)
    if (Object.keys(figures).length === 0) transfer(world, settlement)
  }
  await markSettlementFailed(deps, { settlementId: settlement.settlementId, ...BY_OPERATOR })
}

async function recredit(world: World) {
  const { deps, approves } = world
  const settlement = await aSettlement(world, 'failed')
  if (settlement === undefined) return
  const input = { settlementId: settlement.settlementId, ...BY_OPERATOR }
  await withApproval(deps, () => recreditSettlement(deps, input), approves)
}

/** Half of the transfers that are said to have come back have. */
async function bringBack(world: World) {
  const { deps, prng, truth, approves } = world
  const settlement = await aSettlement(world, 'manual_paid')
  if (settlement === undefined || truth.agreed.has(settlement.settlementId)) return
  const { settlementId, netMinor } = settlement
  if (prng.chance(0.5)) {
    truth.agreed.add(settlementId)
    truth.transferredMinor -= netMinor
  }
  const input = { settlementId, ...BY_OPERATOR, bankReference: settlementId.toUpperCase() }
  await withApproval(deps, () => returnPayout(deps, input), approves)
}
