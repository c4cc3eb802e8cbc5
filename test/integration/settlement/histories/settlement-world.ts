import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../../../shared/client/client.ts'
import { changeClient } from '../../../../shared/client/client-store.ts'
import { GatewayError } from '../../../../shared/errors.ts'
import type { SettlementId } from '../../../../shared/ids.ts'
import { minor } from '../../../../shared/money.ts'
import { makeFeeFinal } from '../../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../../shared/payment/payment.ts'
import { getBalanceWithPayouts } from '../../../../shared/settlement/count-payouts.ts'
import { settleClient } from '../../../../shared/settlement/settle-client.ts'
import type { Settlement } from '../../../../shared/settlement/settlement.ts'
import { addMs } from '../../../../shared/time.ts'
import { type Death, dies, processThatDies } from '../../../support/dying-process.ts'
import { aStoredClient } from '../../../support/payment-builders.ts'
import { byOlderRelease, forgetPayouts } from '../../../support/payout-builders.ts'
import {
  aTransaction,
  BANK,
  fail,
  payOut,
  recredit,
  settlementsOf,
  storeSucceeded,
  succeededPayment,
  trigger,
} from '../../../support/settlement-builders.ts'
import type { TestDeps } from '../../../support/test-deps.ts'
import type { Happening } from './settlement-happenings.ts'
import {
  inOrderOfRecord,
  type Model,
  type ModelSettlement,
  modelView,
  newModel,
  settleModel,
} from './settlement-model.ts'

export type World = {
  readonly deps: TestDeps
  readonly client: Client
  readonly model: Model
  readonly payments: Map<string, Payment>
  /** Whether the functions of an older release run. */
  older: boolean
  /** How often the process died while it settled. */
  deaths: number
  /** Of the settlements seen so far, in the order they were recorded. */
  settlementIds: readonly SettlementId[]
}

/** A client nothing has happened to, in the table and in the model. */
export const newWorld = async (deps: TestDeps): Promise<World> => {
  const client = await aStoredClient(deps, { settlementFloorMinor: minor(10_000), bank: BANK })
  const payments = new Map<string, Payment>()
  const model = newModel(client.createdAt, 10_000)
  deps.provider.script('listTransactions', async ({ providerPaymentId }) => {
    if (!model.reachable) return { kind: 'unanswered', reason: 'unreachable' }
    const asked = [...payments.values()].filter(
      ({ creditedProviderPaymentId }) => creditedProviderPaymentId === providerPaymentId,
    )
    const transactions = asked.flatMap((payment) => {
      const keptMinor = model.payments.find(({ id }) => id === payment.paymentId)?.upstreamFeeMinor
      return keptMinor === undefined ? [] : [aTransaction(payment, { keptMinor })]
    })
    return { kind: 'found', value: { transactions, hasMore: false } }
  })
  return { deps, client, model, payments, older: false, deaths: 0, settlementIds: [] }
}

const pay = async ({ deps, client, model, payments }: World, amounts: readonly number[], fee: number) => {
  const isEstimated = fee % 2 === 1
  const upstreamFeeMinor = fee % 10 === 3 ? undefined : 3_000 + fee * 100
  const paid = amounts.map((notionalMinor) =>
    succeededPayment(client, {
      paidAt: deps.now(),
      notionalMinor,
      ...(isEstimated ? { feeStatus: 'estimated' } : { providerFeeMinor: 3_000 + fee * 100 }),
    }),
  )
  await storeSucceeded(deps, paid)
  for (const payment of paid) {
    payments.set(payment.paymentId, payment)
    model.payments.push({
      id: payment.paymentId,
      paidAt: deps.now(),
      grossMinor: payment.notionalMinor,
      markupMinor: payment.markupMinor,
      fee: { feeMinor: payment.providerFeeMinor, status: payment.feeStatus },
      upstreamFeeMinor,
    })
  }
}

const settle = async (world: World, by: Settlement['triggeredBy'], at: Death | undefined) => {
  const { deps, client, model } = world
  const process = processThatDies(deps, at)
  const died = await dies(async () => {
    if (by === 'auto') return settleClient(process.deps, client.clientId, { by })
    return trigger(process.deps, client).catch((error: unknown) => {
      if (!(error instanceof GatewayError) || error.code !== 'validation') throw error
    })
  })
  if (died) world.deaths++
  const steps = settleModel(model, by, deps.now())
  let step = steps.next()
  for (let written = 0; written < process.transactions(); written++) {
    if (step.done) throw new Error('more was written than the model knows of')
    step = steps.next()
  }
  if (!died && !step.done) throw new Error('less was written than the model knows of')
}

const anOf = <Thing>(things: readonly Thing[], number: number): Thing | undefined => things[number % things.length]

const makeFeeKnown = async ({ deps, model, payments }: World, number: number, feeMinor: number) => {
  const chosen = anOf(model.payments, number)
  const payment = payments.get(chosen?.id ?? '')
  if (!chosen || !payment) return
  const final = await makeFeeFinal(deps, payment, { status: 'actual', feeMinor: minor(feeMinor) })
  if ((final !== undefined) !== (chosen.fee.status === 'estimated')) throw new Error('a fee became final twice')
  if (final) chosen.fee = { feeMinor, status: 'actual' }
}

/** Does it, or is refused for its state: which of the two must be what the model says. */
const expectAllowed = async (expected: boolean, run: () => Promise<unknown>): Promise<void> => {
  try {
    await run()
  } catch (error) {
    if (expected || !(error instanceof GatewayError) || error.code !== 'validation') throw error
    return
  }
  if (!expected) throw new Error('a closed settlement was changed')
}

/** Settlements that can be changed come first; now and then one that cannot, which must be refused. */
const chosenSettlement = async (world: World, number: number, canChange: (settlement: ModelSettlement) => boolean) => {
  const { deps, client, model } = world
  const open = model.settlements.filter(canChange)
  const modelled = anOf(open.length > 0 && number % 5 > 0 ? open : model.settlements, number)
  if (modelled === undefined) return undefined
  if (world.settlementIds.length < model.settlements.length) {
    const real = inOrderOfRecord(await settlementsOf(deps, client))
    world.settlementIds = real.map(({ settlementId: id }) => id)
  }
  const settlementId = world.settlementIds[model.settlements.indexOf(modelled)]
  if (settlementId === undefined) throw new Error('a settlement of the model is not in the table')
  return { modelled, settlementId, isOpen: canChange(modelled) }
}

const close = async (world: World, number: number, to: 'manual_paid' | 'failed') => {
  const chosen = await chosenSettlement(world, number, ({ status }) => status === 'recorded')
  if (!chosen) return
  await expectAllowed(chosen.isOpen, () => (to === 'failed' ? fail : payOut)(world.deps, chosen))
  if (chosen.isOpen) chosen.modelled.status = to
}

const recreditOne = async (world: World, number: number) => {
  const isOpen = ({ status, recredit: done }: ModelSettlement) => status === 'failed' && done === undefined
  const chosen = await chosenSettlement(world, number, isOpen)
  if (!chosen) return
  await expectAllowed(chosen.isOpen, () => recredit(world.deps, chosen))
  if (chosen.isOpen) chosen.modelled.recredit = 'waiting'
}

const setFloor = async ({ deps, client, model }: World, floorMinor: number) => {
  const changes = { settlementFloorMinor: minor(floorMinor) }
  await changeClient(deps, { clientId: client.clientId, operator: 'sari', changes })
  model.floorMinor = floorMinor
}

const look = async ({ deps, client, model }: World) => {
  const { settlements: _, ...expected } = modelView(model)
  const { updatedAt: __, ...shown } = await getBalanceWithPayouts(deps, client.clientId)
  if (!isDeepStrictEqual(shown, expected)) {
    throw new Error(`the balance shows ${JSON.stringify(shown)}, the model says ${JSON.stringify(expected)}`)
  }
}

/** Lets it happen to the real client and to the model. Throws where the two part. */
export const happen = (world: World, happening: Happening): Promise<void> =>
  world.older && happening.do !== 'look'
    ? byOlderRelease(world.deps, world.client.clientId, () => happenNow(world, happening))
    : happenNow(world, happening)

const happenNow = async (world: World, happening: Happening): Promise<void> => {
  switch (happening.do) {
    case 'pay':
      return pay(world, happening.amounts, happening.fee)
    case 'pass':
      return world.deps.clock.set(addMs(world.deps.now(), happening.ms))
    case 'settle':
      return settle(world, happening.by, happening.death)
    case 'fee':
      return makeFeeKnown(world, happening.which, happening.feeMinor)
    case 'close':
      return close(world, happening.which, happening.to)
    case 'recredit':
      return recreditOne(world, happening.which)
    case 'floor':
      return setFloor(world, happening.minor)
    case 'release':
      world.older = happening.older
      return
    case 'forget':
      return forgetPayouts(world.deps, world.client.clientId)
    case 'look':
      return look(world)
    case 'provider':
      world.model.reachable = happening.reachable
  }
}
