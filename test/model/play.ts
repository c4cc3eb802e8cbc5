import type { Client } from '../../shared/client/client.ts'
import { minor } from '../../shared/money.ts'
import { postOverduePayments } from '../../shared/posting/assume-fee.ts'
import type { ProviderTransaction } from '../../shared/provider/provider.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { reconcileTransaction } from '../../shared/sync/reconcile-transaction.ts'
import { DAY_MS, epochMs } from '../../shared/time.ts'
import { createPrng } from '../simulation/world/prng.ts'
import { withoutFloor } from '../support/settlement-builders.ts'
import { ASK, type PaidUpstream, paymentOf } from '../support/synced-payment.ts'
import { memoryDeps } from '../support/test-deps.ts'
import { journalModel } from './journal-model.ts'
import { type ModelRow } from './sums-by-state.ts'

export async function begin(seed: number) {
  const prng = createPrng(seed)
  const isInvoiced = prng.chance(1 / 4)
  const made = memoryDeps()
  const deps = isInvoiced
    ? { ...made, stage: { ...made.stage, providerFees: 'invoiced' as const } }
    : made
  const clients = [await withoutFloor(deps)]
  if (prng.chance(1 / 2)) clients.push(await withoutFloor(deps))
  deps.clock.advance(60)
  return {
    prng,
    deps,
    isInvoiced,
    clients,
    model: journalModel(),
    paid: new Map<string, Paid>(),
    held: new Map<string, Held>(),
    rows: [] as Shown[],
    settlements: [] as {
      readonly settlement: Settlement
      state: 'recorded' | 'failed' | 'paid' | 'done'
    }[],
    odd: new Map<string, number>(),
    /** Whose rows contradict themselves: clients, or the house. */
    contradicted: new Set<string>(),
  }
}

export type Play = Awaited<ReturnType<typeof begin>>

type Paid = PaidUpstream & {
  readonly paidAtMs: number
  ownRow?: ProviderTransaction
  isVoid?: true
}

type Held = { readonly providerPaymentId: string; ownRow?: ProviderTransaction; isVoid?: true }

type Shown = {
  readonly row: ProviderTransaction
  readonly of: { readonly payment: string } | { readonly item: string } | 'house'
  readonly figures: ModelRow
  isUndone?: true
}

export async function postOverdue(play: Play, { clientId }: Client) {
  await postOverduePayments(play.deps, clientId)
  const weekAgo = epochMs(play.deps.now()) - 7 * DAY_MS
  for (const [id, one] of play.paid) {
    const { isPosted, client } = play.model.payments.get(id) ?? {}
    if (isPosted || client !== clientId || one.paidAtMs > weekAgo) continue
    const p = play.odd.get(id)
    play.model.post(id, p === undefined ? undefined : { p, isOdd: true })
  }
}

/** `owner`: who is told if the row contradicts itself; undefined: it belongs to no payment. */
export function drawRow(
  { prng, contradicted }: Play,
  direction: 'in' | 'out',
  a: number,
  owner: string | undefined,
) {
  const c = prng.pick([0, 0, 2_500, 500])
  const p = direction === 'out' ? -(a + c) : a - c
  const isOdd = p !== 0 && prng.chance(1 / 15)
  if (isOdd && owner) contradicted.add(owner)
  return { a, c, p: isOdd ? prng.pick([-p, p - 1, 0]) : p }
}

export function shownFigures({ p, a, c }: ModelRow) {
  const feeMinor = c === 0 ? undefined : minor(c)
  return { amountMinor: minor(a), providerMinor: minor(p), feeMinor, keptMinor: undefined }
}

export async function read(deps: Play['deps'], row: ProviderTransaction, one?: PaidUpstream) {
  const payment = one && (await paymentOf(deps, one))
  await reconcileTransaction(deps, { transaction: row, payment }, ASK)
}

type Prng = Play['prng']

export function pickOf<T>(
  prng: Prng,
  things: ReadonlyMap<string, T>,
  isWanted: (thing: T) => boolean,
) {
  return pickFrom(prng, [...things.values()].filter(isWanted))
}

export function pickFrom<T>(prng: Prng, things: readonly T[]) {
  return things.length === 0 ? undefined : prng.pick(things)
}
