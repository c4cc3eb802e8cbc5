import type { Client } from '../../../../shared/client/client.ts'
import { GatewayError } from '../../../../shared/errors.ts'
import { getBalance } from '../../../../shared/ledger/balance.ts'
import { minor } from '../../../../shared/money.ts'
import type { Payment } from '../../../../shared/payment/payment.ts'
import { postAfterWait } from '../../../../shared/posting/assume-fee.ts'
import type { ProviderTransaction } from '../../../../shared/provider/provider.ts'
import type { Settlement } from '../../../../shared/settlement/settlement.ts'
import { reconcileTransaction } from '../../../../shared/sync/reconcile-transaction.ts'
import { addMs } from '../../../../shared/time.ts'
import { type Death, dies, processThatDies } from '../../../support/dying-process.ts'
import { NOT_SETTLED, settledRow } from '../../../support/fake-provider.ts'
import { beforeFirst } from '../../../support/intercept-table.ts'
import { type MemoryDeps, memoryDeps } from '../../../support/memory-deps.ts'
import type { HeardRow } from '../../../support/money-model.ts'
import { storeOpen, succeededPayment } from '../../../support/paid-builders.ts'
import { fail, payOut, recredit, settle, settlementsOf, withFloor } from '../../../support/settlement-builders.ts'
import { paymentOf } from '../../../support/synced-payment.ts'
import type { TestDeps } from '../../../support/test-deps.ts'
import { DISPUTE_FEE } from '../provider-rows.ts'
import { writeOff } from '../write-off.ts'
import type { Happening, Move } from './money-happenings.ts'

/** A row of the provider's, and what its account gained by it. */
type BookedRow = HeardRow & { readonly leg: number; readonly row: ProviderTransaction }

/** What the provider has done with the money of one payment: all that the model knows. */
export type Kept = {
  readonly payment: Payment
  /** Of its own row: settled with this fee; undefined while it is not. */
  settledFee: number | undefined
  isVoid: boolean
  readonly rows: BookedRow[]
}

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

/** Rows that were put off are looked at again. */
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

const ownId = ({ paymentId }: Payment) => `own_${paymentId}`

const amountOf = ({ notionalMinor }: Payment, part: number) =>
  minor(part === 0 ? notionalMinor : Math.max(1, Math.floor((notionalMinor * part) / 1_000)))

type Booked = { readonly payment: Payment; readonly row: ProviderTransaction }

const book = (kept: Kept, type: HeardRow['type'], row: ProviderTransaction, amountMinor: number): Booked => {
  const isOwnRow = row.type === 'payment'
  const { transactionId, providerMinor: leg } = row
  kept.rows.push({ type, transactionId, amountMinor, leg, row, ...(isOwnRow && { isOwnRow }) })
  return { payment: kept.payment, row }
}

const bookVoid = (world: World, kept: Kept): Booked => {
  kept.isVoid = true
  const row = rowOf(world, kept.payment, { transactionId: ownId(kept.payment), status: 'reversed', returns: 'voided' })
  return book(kept, 'reversal', { ...row, providerMinor: minor(0) }, kept.payment.notionalMinor)
}

/** The provider books it, once; how often and by which process it is heard of is another matter. */
const bookTake = (world: World, { which, kind, part }: Extract<Move, { do: 'take' }>): Booked | undefined => {
  const kept = anOf(world.payments, which)
  if (!kept || (kind === 'voided' && kept.isVoid)) return undefined
  if (kind === 'voided') return bookVoid(world, kept)
  const disputedMinor = amountOf(kept.payment, part)
  const amountMinor = minor(disputedMinor + (kind === 'chargeback' ? DISPUTE_FEE : 0))
  const fields = { type: 'return', returns: kind, amountMinor, providerMinor: minor(0 - amountMinor) } as const
  const row = rowOf(world, kept.payment, { ...fields, ...(kind === 'chargeback' && { disputedMinor }) })
  return book(kept, kind, row, disputedMinor)
}

const bookGive = (world: World, { which, part }: Extract<Move, { do: 'give' }>): Booked | undefined => {
  const disputed = world.payments.filter(({ rows }) => rows.some(({ type }) => type === 'chargeback'))
  const kept = anOf(disputed, which)
  if (!kept) return undefined
  const amountMinor = amountOf(kept.payment, part)
  const fields = { type: 'correction', comesAgain: true, amountMinor, providerMinor: amountMinor } as const
  return book(kept, 'dispute_won', rowOf(world, kept.payment, fields), amountMinor)
}

/** A row becomes void once. */
const bookUndo = (world: World, { which }: Extract<Move, { do: 'undo' }>): Booked | undefined => {
  const standing = world.payments.flatMap((kept) =>
    kept.rows
      .filter(
        ({ type, transactionId: id }) =>
          type !== 'reversal' && kept.rows.filter((one) => one.transactionId === id).length === 1,
      )
      .map((one) => ({ kept, one })),
  )
  const found = anOf(standing, which)
  if (!found) return undefined
  const { kept, one } = found
  return book(kept, 'reversal', { ...one.row, status: 'reversed', updatedAt: world.deps.now() }, one.row.amountMinor)
}

/** The provider settles what it has not voided, once. */
const bookSettled = (world: World, { which, feeMinor }: Extract<Move, { do: 'post' }>): Booked | undefined => {
  const kept = anOf(
    world.payments.filter(({ isVoid }) => !isVoid),
    which,
  )
  if (!kept) return undefined
  kept.settledFee ??= feeMinor
  const { payment, settledFee } = kept
  const keptMinor = minor(settledFee)
  const providerMinor = minor(payment.notionalMinor - settledFee)
  return { payment, row: rowOf(world, payment, { transactionId: ownId(payment), keptMinor, providerMinor }) }
}

const booked = (world: World, move: Move): Booked | undefined => {
  switch (move.do) {
    case 'take':
      return bookTake(world, move)
    case 'give':
      return bookGive(world, move)
    case 'undo':
      return bookUndo(world, move)
    case 'post':
      return bookSettled(world, move)
    case 'assume':
    case 'settle':
    case 'close':
    case 'recredit':
    case 'write off':
      return undefined
  }
}

/** What an operator is refused for its state is no mistake. */
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

/** What happens, as often as it is called; what the provider books is booked before, once. */
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
        if (owed > 0) await writeOff(deps, world.client, owed)
        return owed > 0
      }
      case 'take':
      case 'give':
      case 'undo':
      case 'post':
        return undefined
    }
  }
}

/** A write-off is told once: a process that died does not repeat it. */
const isOnce = ({ do: what }: Move) => what === 'write off'

const lives = async (world: World, move: Move, death: Death | undefined): Promise<void> => {
  const act = actionOf(world, move)
  const died =
    death !== undefined && (await dies(() => unlessRefused(() => act(processThatDies(world.deps, death).deps))))
  if (died) world.deaths++
  // The provider's rows are read again, messages come again; what an operator did not see done, the operator does again.
  if (death === undefined || (died && !isOnce(move))) await unlessRefused(() => act(world.deps))
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
