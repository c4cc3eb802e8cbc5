import type { Client } from '../../../../shared/client/client.ts'
import { GatewayError } from '../../../../shared/errors.ts'
import { getBalance } from '../../../../shared/ledger/ledger-store.ts'
import type { Payment } from '../../../../shared/payment/payment.ts'
import { postAfterWait } from '../../../../shared/posting/assume-fee.ts'
import type { ProviderTransaction } from '../../../../shared/provider/provider.ts'
import type { Settlement } from '../../../../shared/settlement/settlement.ts'
import { reconcileTransaction } from '../../../../shared/sync/reconcile-transaction.ts'
import { addMs } from '../../../../shared/time.ts'
import { NOT_SETTLED, settledRow } from '../../../support/fake-provider.ts'
import { beforeFirst } from '../../../support/intercept-table.ts'
import { type MemoryDeps, memoryDeps } from '../../../support/memory-deps.ts'
import type { HeardRow } from '../../../support/money-model.ts'
import { adjusted } from '../../../support/money-rows.ts'
import { storeOpen, succeededPayment } from '../../../support/paid-builders.ts'
import { fail, payOut, recredit, settle, settlementsOf, withFloor } from '../../../support/settlement-builders.ts'
import { paymentOf } from '../../../support/synced-payment.ts'
import type { TestDeps } from '../../../support/test-deps.ts'
import { anOf, booked } from './booked-rows.ts'
import { type Death, dies } from './dying-process.ts'
import type { Happening, Move } from './money-happenings.ts'

/** A row of the provider's, and what our account there gained by it. */
type BookedRow = HeardRow & { readonly leg: number; readonly row: ProviderTransaction }

/** What the provider has done with the money of one payment: all that the model knows. */
export type Kept = {
  readonly payment: Payment
  /** The fee of its own row; undefined until the row is settled. */
  settledFee: number | undefined
  isVoid: boolean
  readonly rows: BookedRow[]
}

export type World = {
  readonly deps: MemoryDeps
  readonly client: Client
  readonly payments: Kept[]
  /** Rows that could not be decided yet: the sync reads them again. */
  open: { readonly row: ProviderTransaction; readonly of: Payment }[]
  rows: number
  deaths: number
}

export const newWorld = async (): Promise<World> => {
  const deps = memoryDeps()
  return { deps, client: await withFloor(deps), payments: [], open: [], rows: 0, deaths: 0 }
}

const ASK = { allowed: async () => false, unanswered: async () => undefined }

/** What the sync does with a row of the provider's. */
const hear = async (world: World, deps: TestDeps, row: ProviderTransaction, of: Payment): Promise<void> => {
  const { kind } = await reconcileTransaction(deps, row, await paymentOf(deps, { payment: of }), ASK)
  if (kind === 'open') world.open.push({ row, of })
}

/** The sync reads the undecided rows again. */
export const hearAgain = async (world: World): Promise<void> => {
  const waiting = world.open
  world.open = []
  for (const { row, of } of waiting) await hear(world, world.deps, row, of)
}

/** An operator's action may be refused because of the state: that is no failure. */
const unlessRefused = async (run: () => Promise<unknown>): Promise<void> => {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'validation') throw error
  }
}

const oneWith = async ({ deps, client }: World, which: number, status: Settlement['status']) =>
  anOf(
    (await settlementsOf(deps, client)).filter((one) => one.status === status && one.recreditedAt === undefined),
    which,
  )

const owedBy = async ({ deps, client }: World): Promise<number> => {
  const { pendingMinor, availableMinor } = await getBalance(deps, client.clientId)
  return -(pendingMinor + availableMinor)
}

/** The move, which may run several times. The provider books its part once, before the first run. */
const actionOf = (world: World, move: Move): ((deps: TestDeps) => Promise<unknown>) => {
  const row = booked(world, move)
  return async (deps) => {
    if (row) return hear(world, deps, row.row, row.payment)
    switch (move.do) {
      case 'assume': {
        const kept = anOf(world.payments, move.which)
        return kept && postAfterWait(deps, kept.payment.paymentId)
      }
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
      case 'write off': {
        const owed = await owedBy(world)
        if (owed > 0) await adjusted(deps, world.client, 'written_off', owed)
        return owed > 0
      }
      case 'take':
      case 'give':
      case 'undo':
      case 'post':
        // The provider had nothing to book.
        return undefined
    }
  }
}

const lives = async (world: World, move: Move, death: Death | undefined): Promise<void> => {
  const act = actionOf(world, move)
  const died = death !== undefined && (await dies(world.deps, death, (mortal) => unlessRefused(() => act(mortal))))
  if (died) world.deaths++
  // The sync reads rows again, messages come again, and operators repeat what failed. A write-off is asked for once.
  if (death === undefined || (died && move.do !== 'write off')) await unlessRefused(() => act(world.deps))
}

const pay = async ({ deps, client, payments }: World, amounts: readonly number[]): Promise<void> => {
  const paid = amounts.map((notionalMinor) => succeededPayment(client, { paidAt: deps.now(), notionalMinor }))
  await storeOpen(deps, paid)
  for (const payment of paid) {
    // Rows that are not settled: the provider knows the payment.
    const about = { providerPaymentId: payment.creditedProviderPaymentId ?? '', reference: `${payment.paymentId}-1` }
    deps.provider.transactions.push(settledRow(about, deps.now(), NOT_SETTLED))
    payments.push({ payment, settledFee: undefined, isVoid: false, rows: [] })
  }
}

export const happen = async (world: World, happening: Happening): Promise<void> => {
  switch (happening.do) {
    case 'pay':
      return pay(world, happening.amounts)
    case 'pass':
      world.deps.clock.set(addMs(world.deps.now(), happening.ms))
      return hearAgain(world)
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
