import type { Client } from '../../../../shared/client/client.ts'
import { GatewayError } from '../../../../shared/errors.ts'
import { minor } from '../../../../shared/money.ts'
import { makeFeeFinal } from '../../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../../shared/payment/payment.ts'
import type { ProviderTransaction } from '../../../../shared/provider/provider.ts'
import { markSettlementPaid } from '../../../../shared/settlement/close-settlement.ts'
import { reversalsToConfirm, type Settlement } from '../../../../shared/settlement/settlement.ts'
import { resolveSuspense } from '../../../../shared/suspense/resolve-suspense.ts'
import type { Suspense } from '../../../../shared/suspense/suspense.ts'
import { listSuspense } from '../../../../shared/suspense/suspense-store.ts'
import { reconcileTransaction } from '../../../../shared/sync/reconcile-transaction.ts'
import { addMs } from '../../../../shared/time.ts'
import { type Death, dies, processThatDies } from '../../../support/dying-process.ts'
import { settledRow } from '../../../support/fake-provider.ts'
import { beforeFirst } from '../../../support/intercept-table.ts'
import { type MemoryDeps, memoryDeps } from '../../../support/memory-deps.ts'
import {
  BY_OPERATOR,
  fail,
  recredit,
  settle,
  settlementsOf,
  storeSucceeded,
  succeededPayment,
  withFloor,
} from '../../../support/settlement-builders.ts'
import { paymentOf } from '../../../support/synced-payment.ts'
import type { TestDeps } from '../../../support/test-deps.ts'
import type { Happening, Move } from './reversal-happenings.ts'

/** What the provider has done with the money of one payment: all that the model knows. */
export type Kept = { readonly payment: Payment; turned: boolean; wholes: number; partsMinor: number }

export type World = {
  readonly deps: MemoryDeps
  readonly client: Client
  readonly payments: Kept[]
  /** Rows that could not be decided yet: the sync looks at them again. */
  open: { readonly row: ProviderTransaction; readonly of: Payment }[]
  rows: number
  deaths: number
}

export const newWorld = async (): Promise<World> => {
  const deps = memoryDeps()
  return { deps, client: await withFloor(deps), payments: [], open: [], rows: 0, deaths: 0 }
}

const anOf = <Thing>(things: readonly Thing[], number: number): Thing | undefined => things[number % things.length]

const ASK = { allowed: async () => false, unanswered: async () => undefined }

/** What the sync does with a row of the provider's. */
const hear = async (world: World, deps: TestDeps, row: ProviderTransaction, of: Payment): Promise<void> => {
  const { kind } = await reconcileTransaction(deps, row, await paymentOf(deps, { payment: of }), ASK)
  if (kind === 'open') world.open.push({ row, of })
}

/** Whatever was put off is looked at again. */
export const hearAgain = async (world: World): Promise<void> => {
  const waiting = world.open
  world.open = []
  for (const { row, of } of waiting) await hear(world, world.deps, row, of)
}

const rowOf = (world: World, payment: Payment, fields: Partial<ProviderTransaction>): ProviderTransaction =>
  settledRow(
    { providerPaymentId: payment.creditedProviderPaymentId ?? '', reference: `${payment.paymentId}-1` },
    world.deps.now(),
    { transactionId: `txn_${++world.rows}`, keptMinor: undefined, amountMinor: payment.notionalMinor, ...fields },
  )

const amountOf = ({ notionalMinor }: Payment, part: number) =>
  minor(part === 0 ? notionalMinor : Math.max(1, Math.floor((notionalMinor * part) / 1_000)))

/** The provider books it, once; how often and by whom it is heard of is another matter. */
const bookTake = (world: World, { which, kind, part }: Extract<Move, { do: 'take' }>) => {
  const kept = anOf(world.payments, which)
  if (!kept || (kind === 'voided' && kept.turned)) return undefined
  const { payment } = kept
  if (kind === 'voided') {
    kept.turned = true
    kept.wholes++
    return { payment, row: rowOf(world, payment, { status: 'reversed', returns: kind }) }
  }
  const amountMinor = amountOf(payment, part)
  if (part === 0) kept.wholes++
  else kept.partsMinor += amountMinor
  return { payment, row: rowOf(world, payment, { type: 'return', returns: kind, amountMinor }) }
}

const bookGive = (world: World, { which, part }: Extract<Move, { do: 'give' }>) => {
  const taken = world.payments.filter(({ wholes }) => wholes > 0)
  const kept = anOf(taken.length > 0 ? taken : world.payments, which)
  if (!kept) return undefined
  const amountMinor = amountOf(kept.payment, part)
  if (part === 0) kept.wholes--
  else kept.partsMinor -= amountMinor
  return {
    payment: kept.payment,
    row: rowOf(world, kept.payment, { type: 'correction', comesAgain: true, amountMinor }),
  }
}

const booked = (world: World, move: Move) =>
  move.do === 'take' ? bookTake(world, move) : move.do === 'give' ? bookGive(world, move) : undefined

/** Whatever an operator is refused for its state is nobody's fault. */
const unlessRefused = async (run: () => Promise<unknown>): Promise<void> => {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'validation') throw error
  }
}

export const payOut = (deps: TestDeps, settlement: Settlement) =>
  markSettlementPaid(deps, {
    settlementId: settlement.settlementId,
    ...BY_OPERATOR,
    confirmUnfunded: true,
    confirmReversed: reversalsToConfirm(settlement),
  })

const oneWith = async ({ deps, client }: World, which: number, status: Settlement['status']) =>
  anOf(
    (await settlementsOf(deps, client)).filter((one) => one.status === status && one.recreditedAt === undefined),
    which,
  )

export const allSuspense = (deps: TestDeps): Promise<readonly Suspense[]> =>
  listSuspense(deps, undefined, { page: 1, perPage: 100 })

/** Something that can be done again, on whatever process. */
const actionOf = (world: World, move: Move): ((deps: TestDeps) => Promise<unknown>) => {
  const row = booked(world, move)
  return async (deps) => {
    switch (move.do) {
      case 'take':
      case 'give':
        return row && hear(world, deps, row.row, row.payment)
      case 'settle':
        return settle(deps, world.client)
      case 'close': {
        const recorded = await oneWith(world, move.which, 'recorded')
        return recorded && (move.to === 'failed' ? fail : payOut)(deps, recorded)
      }
      case 'recredit': {
        const failed = await oneWith(world, move.which, 'failed')
        return failed && recredit(deps, failed)
      }
      case 'resolve': {
        const open = (await allSuspense(world.deps)).filter(
          ({ kind, status }) => kind === 'receivable' && status === 'open',
        )
        const { suspenseId } = anOf(open, move.which) ?? {}
        return suspenseId && resolveSuspense(deps, { suspenseId, ...BY_OPERATOR, resolution: move.resolution })
      }
    }
  }
}

const lives = async (world: World, move: Move, death: Death | undefined): Promise<void> => {
  const act = actionOf(world, move)
  const died =
    death !== undefined && (await dies(() => unlessRefused(() => act(processThatDies(world.deps, death).deps))))
  if (died) world.deaths++
  // The provider's rows are read again, messages come again; what an operator did not see done, the operator does again.
  if (death === undefined || died) await unlessRefused(() => act(world.deps))
}

const pay = async ({ deps, client, payments }: World, amounts: readonly number[], estimated: boolean) => {
  const paid = amounts.map((notionalMinor) =>
    succeededPayment(client, { paidAt: deps.now(), notionalMinor, ...(estimated && { feeStatus: 'estimated' }) }),
  )
  await storeSucceeded(deps, paid)
  payments.push(...paid.map((payment) => ({ payment, turned: false, wholes: 0, partsMinor: 0 })))
}

export const makeFeeKnown = async ({ deps }: World, kept: Kept | undefined): Promise<void> => {
  if (!kept) return
  const payment = await paymentOf(deps, kept)
  if (payment.feeStatus === 'estimated') await makeFeeFinal(deps, payment, { status: 'actual', feeMinor: minor(4_440) })
}

export const happen = async (world: World, happening: Happening): Promise<void> => {
  switch (happening.do) {
    case 'pay':
      return pay(world, happening.amounts, happening.estimated)
    case 'pass':
      world.deps.clock.set(addMs(world.deps.now(), happening.ms))
      return hearAgain(world)
    case 'fee':
      return makeFeeKnown(world, anOf(world.payments, happening.which))
    case 'move':
      return lives(world, happening.move, happening.death)
    case 'race': {
      const [first, second] = [actionOf(world, happening.first), actionOf(world, happening.second)]
      let met = false
      const other = () => {
        met = true
        return unlessRefused(() => second(world.deps))
      }
      await unlessRefused(() => first(beforeFirst(world.deps, 'transact', other)))
      if (!met) await other()
    }
  }
}
