import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { type ClientId, SettlementIdSchema } from '../ids.ts'
import { type Balance, balanceOf, type PayoutFigures } from '../ledger/balance.ts'
import { readLedger, type Window } from '../ledger/ledger-store.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import type { Settlement } from './settlement.ts'
import { findSettlements, settlementPages } from './settlement-store.ts'
import { countPayoutsStep } from './window-store.ts'

type CountDeps = Pick<Deps, 'table' | 'sleep' | 'log'>

const isPaidOut = ({ status }: Settlement) => status === 'manual_paid'
const isOpen = (settlement: Settlement) => !isPaidOut(settlement) && settlement.recreditedAt === undefined

const netOf = (settlements: readonly Settlement[]) =>
  settlements.reduce((sum, { netMinor }) => plus(sum, netMinor), ZERO)

const addsUp = ({ settledMinor, availableMinor, reversedSweptMinor = ZERO }: Window, figures: PayoutFigures): boolean =>
  less(settledMinor, reversedSweptMinor) === plus(plus(availableMinor, figures.inSettlementMinor), figures.paidOutMinor)

type Proven = {
  readonly figures: PayoutFigures
  /** False while the window still shows as open what has been paid out. */
  readonly isCurrent: boolean
}

/**
 * The figures of a window, proven, or undefined. Functions of the release before this one move settled and available
 * without them, and mark a settlement paid without the window: during a canary, and after a rollback. So they are
 * believed only when the equation holds, and the open settlements themselves are still open and add up. Every
 * settlement's net is above zero: whatever the window has missed would be missing in these sums. One that was paid out
 * meanwhile is counted as that, whoever marked it.
 */
const provenFigures = async (deps: CountDeps, window: Window): Promise<Proven | undefined> => {
  const { inSettlementMinor, paidOutMinor, openIds = new Set(), payoutsCounted } = window
  if (payoutsCounted === undefined || inSettlementMinor === undefined || paidOutMinor === undefined) return undefined
  if (!addsUp(window, { inSettlementMinor, paidOutMinor })) return undefined
  const held = await findSettlements(
    deps,
    [...openIds].map((id) => v.parse(SettlementIdSchema, id)),
  )
  const paidMeanwhile = held.filter(isPaidOut)
  if (!held.every((settlement) => isOpen(settlement) || isPaidOut(settlement))) return undefined
  if (netOf(held) !== inSettlementMinor) return undefined
  const paidMinor = netOf(paidMeanwhile)
  return {
    figures: {
      inSettlementMinor: less(inSettlementMinor, paidMinor),
      paidOutMinor: plus(paidOutMinor, paidMinor),
    },
    isCurrent: paidMeanwhile.length === 0,
  }
}

/**
 * Counts a client's payouts from its settlements and puts them down, if that is all of them: the index may not know
 * the newest yet, and then the sums fall short of what the window has settled. False then, and when anything moved the
 * window meanwhile; whoever comes next counts again. A crash leaves nothing half done: it is one write.
 */
export const countPayouts = async (deps: CountDeps, clientId: ClientId, window: Window): Promise<boolean> => {
  let figures: PayoutFigures = { inSettlementMinor: ZERO, paidOutMinor: ZERO }
  const openIds = new Set<string>()
  for await (const settlements of settlementPages(deps, clientId)) {
    const open = settlements.filter(isOpen)
    for (const { settlementId } of open) openIds.add(settlementId)
    figures = {
      inSettlementMinor: plus(figures.inSettlementMinor, netOf(open)),
      paidOutMinor: plus(figures.paidOutMinor, netOf(settlements.filter(isPaidOut))),
    }
  }
  const isWhole = addsUp(window, figures)
  const { applied } = isWhole
    ? await deps.table.write(countPayoutsStep(clientId, window, { ...figures, openIds }))
    : { applied: false }
  if (applied) deps.log.info('payouts.counted', { client_id: clientId })
  else deps.log.warn('payouts.not_counted', { client_id: clientId, reason: isWhole ? 'moved' : 'incomplete' })
  return applied
}

/**
 * Before a client is settled: windows that older releases wrote are completed, and what functions of such a release
 * moved since is put right. Does not stop the settling when it cannot be: the next run comes tomorrow.
 */
export const ensurePayoutsCounted = async (deps: CountDeps, clientId: ClientId, window: Window): Promise<void> => {
  const proven = await provenFigures(deps, window)
  if (!proven?.isCurrent) await countPayouts(deps, clientId, window)
}

/** An index is behind for some hundred milliseconds; the request has ten seconds. */
const LOOKS = 6
const LOOK_AGAIN_MS = 500

/**
 * The balance with what is in settlements and what was paid out: credited = pending + available + in settlement + paid
 * out, less what was taken out again because it went back. A window of an older release is completed first, which costs a reading of the client's settlements
 * once; besides, the figures cost a read of the settlements that are open.
 * One that was paid out between the two reads brings another look: what was credited before it is no part of the first.
 */
export const getBalanceWithPayouts = async (deps: CountDeps, clientId: ClientId): Promise<Balance & PayoutFigures> => {
  let paidBefore: Minor | undefined
  for (let look = 0; look < LOOKS; look++) {
    const ledger = await readLedger(deps, clientId)
    const { window } = ledger
    if (window === undefined) return { ...balanceOf(ledger), inSettlementMinor: ZERO, paidOutMinor: ZERO }
    const proven = await provenFigures(deps, window)
    const paidOutMinor = proven?.figures.paidOutMinor
    // Paid out by the release before, which leaves the window behind: the next look finds it so again.
    if (proven && (proven.isCurrent || paidOutMinor === paidBefore)) return { ...balanceOf(ledger), ...proven.figures }
    paidBefore = paidOutMinor
    if (!proven && !(await countPayouts(deps, clientId, window))) await deps.sleep(LOOK_AGAIN_MS)
  }
  throw new GatewayError('internal_error', 'the settlements were changing all the while; ask again in a moment')
}
