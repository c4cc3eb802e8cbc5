import { readSettlements } from '../audit/read-books.ts'
import { readWindowSeals } from '../audit/seal-store.ts'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { balanceOf } from '../ledger/balance.ts'
import { ledgerStand } from '../ledger/ledger-stand.ts'
import { type Ledger, readLedger } from '../ledger/ledger-store.ts'
import { findReversals, isDeducted, isReinstated, type LedgerReversal } from '../ledger/reversal-store.ts'
import { minor, plus, ZERO } from '../money.ts'
import { SECOND_MS } from '../time.ts'
import { countPaid } from './count-paid.ts'
import { type Figures, figure } from './figures.ts'
import type { CountedPaid } from './paid-count-store.ts'
import { settledDifference } from './settled-difference.ts'

export type BooksDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now'>

/** The books of one client, without what is in suspense. */
export type ClientBooks = {
  readonly figures: Figures
  /** What the ledger was meanwhile; undefined when it moved. */
  readonly stand: string | undefined
  /** Nothing is waited for that need not move the ledger. */
  readonly isFinal: boolean
}

/** What was written just before may not be in the indexes yet. */
const INDEX_LAG_MS = SECOND_MS
const LOOKS = 3

const credited = (ledger: Ledger) => {
  const { pendingMinor } = balanceOf(ledger)
  return plus(pendingMinor, ledger.window?.settledMinor ?? ZERO)
}

const netOf = (reversals: readonly LedgerReversal[]): number =>
  reversals.reduce((sum, { netMinor }) => sum + netMinor, 0)

/** Credits move on while payments are read: what lies between before and behind that is in motion, and no difference. */
const figuresOf = (
  { before, after }: { readonly before: Ledger; readonly after: Ledger },
  counted: CountedPaid,
  { reversals, settledMinor }: { readonly reversals: readonly LedgerReversal[]; readonly settledMinor: number },
): Figures => {
  const { sums } = counted
  const reversedMinor = netOf(reversals.filter(isDeducted))
  const reinstatedMinor = netOf(reversals.filter(isReinstated))
  const expected = sums.grossMinor - sums.providerFeesMinor - sums.markupMinor - reversedMinor + reinstatedMinor
  const [low, high] = [credited(before), credited(after)].toSorted((a, b) => a - b)
  const nearest = Math.min(Math.max(expected, low ?? 0), high ?? 0)
  const { window } = after
  const { availableMinor, pendingMinor } = balanceOf(after)
  return {
    received: sums.grossMinor,
    provider_fees: sums.providerFeesMinor,
    markup: sums.markupMinor,
    reversed_before_sweep: minor(reversedMinor),
    reinstated: minor(reinstatedMinor),
    in_motion: minor(credited(after) - nearest),
    credited: credited(after),
    pending: pendingMinor,
    available: availableMinor,
    in_settlement: window?.inSettlementMinor ?? ZERO,
    paid_out: window?.paidOutMinor ?? ZERO,
    reversed_swept: window?.reversedSweptMinor ?? ZERO,
    provider_settled: counted.settledMinor,
    provider_not_due: counted.notDueMinor,
    reversed_unsettled: counted.returnedMinor,
    credited_difference: minor(nearest - expected),
    settled_difference: minor(settledMinor),
    provider_overdue: counted.overdueMinor,
  }
}

const look = async (
  deps: BooksDeps,
  client: Client,
  { isOver, lagMs }: { readonly isOver: () => boolean; readonly lagMs: number },
): Promise<ClientBooks | undefined> => {
  const { clientId } = client
  const before = await readLedger(deps, clientId)
  if (lagMs > 0) await deps.sleep(lagMs)
  const counted = await countPaid(deps, client, { parts: before.parts, isOver })
  if (counted === undefined) return undefined
  const { stored } = await readSettlements(deps, clientId, before.window?.openIds)
  const settlements = stored.map(({ settlement }) => settlement)
  const seals = await readWindowSeals(deps, clientId)
  const reversals = await findReversals(deps, clientId)
  const after = await readLedger(deps, clientId)
  const { window } = after
  const settledMinor = window ? settledDifference({ window, settlements, seals, reversals }) : 0
  const stand = ledgerStand(after)
  return {
    figures: figuresOf({ before, after }, counted, { reversals, settledMinor }),
    stand: stand === ledgerStand(before) ? stand : undefined,
    isFinal: counted.isFinal,
  }
}

/**
 * A client's books from each of their sources, held against each other (design section 8's equation, and what the
 * provider says it settled). A difference that another look does not show was traffic. Undefined when there was more to
 * count than its time: the next one goes on from there. Changes nothing of the books.
 */
export const clientBooks = async (
  deps: BooksDeps,
  client: Client,
  isOver: () => boolean,
): Promise<ClientBooks | undefined> => {
  let books: ClientBooks | undefined
  for (let number = 0; number < LOOKS; number++) {
    books = await look(deps, client, { isOver, lagMs: number === 0 ? 0 : INDEX_LAG_MS })
    if (books === undefined) return undefined
    const { figures } = books
    if (figure(figures, 'credited_difference') === 0 && figure(figures, 'settled_difference') === 0) break
  }
  return books
}
