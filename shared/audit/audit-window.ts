import { type Client, firstWindowStart } from '../client/client.ts'
import { partsOf, type Window } from '../ledger/ledger-store.ts'
import { remainingSums, type Settlement } from '../settlement/settlement.ts'
import { breaks, type Difference, differs } from './difference.ts'

const WINDOW = 'window'

/** Windows follow one another without gap or overlap, from the client's beginning to where the window stands. */
const auditChain = (windows: readonly Settlement[], client: Client, window: Window): readonly Difference[] => {
  let start = firstWindowStart(client)
  const gaps = windows.flatMap((settlement) => {
    const difference = differs('settlement.period_start', settlement.settlementId, start, settlement.periodStart)
    start = settlement.periodEnd
    return difference
  })
  return [...gaps, ...differs('window.settled_until', WINDOW, start, window.settledUntil)]
}

const netOf = (settlements: readonly Settlement[]): number =>
  settlements.reduce((sum, { netMinor }) => sum + netMinor, 0)

const reversedOf = (settlements: readonly Settlement[]): number =>
  settlements.reduce((sum, { reversedNetMinor = 0 }) => sum + reversedNetMinor, 0)

/** The window changes when something is recorded or recredited, or went back while it waited, and at no other time. */
const auditChangedAt = (settlements: readonly Settlement[], { changedAt }: Window): readonly Difference[] => {
  const times = settlements.flatMap(({ createdAt, recreditedAt, reversedAt }) =>
    recreditedAt ? [createdAt, recreditedAt, reversedAt] : [createdAt],
  )
  const isKnown = changedAt === undefined ? times.length === 0 : times.includes(changedAt)
  return isKnown ? [] : differs('window.changed_at', WINDOW, 'when a settlement was recorded or recredited', changedAt)
}

/** A recredited settlement either waits in the window or was recorded again; nothing else has happened to its funds. */
const auditRecredits = (settlements: readonly Settlement[], window: Window): readonly Difference[] => {
  const known = new Set<string>(settlements.map(({ settlementId }) => settlementId))
  const strays = [...(window.recreditedIds ?? [])].filter((id) => !known.has(id))
  return [
    ...strays.flatMap((id) => differs('window.recredited_ids', id, undefined, 'not a settlement of this client')),
    ...settlements.flatMap((settlement) => {
      const { settlementId: id, recreditedAt } = settlement
      const waiting = window.recreditedIds?.has(id) === true ? 1 : 0
      const replacements = settlements.filter(({ replaces }) => replaces === id).length
      // With nothing left of it, it need not wait.
      if (recreditedAt !== undefined && waiting + replacements === 0 && remainingSums(settlement).paymentCount === 0)
        return []
      return differs('settlement.recredits', id, recreditedAt === undefined ? 0 : 1, waiting + replacements)
    }),
  ]
}

/** What is in settlements and what was paid out. */
const auditPayouts = (settlements: readonly Settlement[], window: Window): readonly Difference[] => {
  const open = settlements.filter(({ status, recreditedAt }) => status !== 'manual_paid' && recreditedAt === undefined)
  const ids = new Set<string>(open.map(({ settlementId }) => settlementId))
  const listed = window.openIds ?? new Set()
  return [
    ...differs('window.in_settlement_minor', WINDOW, netOf(open), window.inSettlementMinor),
    ...differs(
      'window.paid_out_minor',
      WINDOW,
      netOf(settlements.filter(({ status }) => status === 'manual_paid')),
      window.paidOutMinor,
    ),
    ...breaks(
      'window.open_ids',
      WINDOW,
      ids.size !== listed.size || ![...ids].every((id) => listed.has(id)),
      'the settlements that are open',
      listed.size,
    ),
  ]
}

/** The window against the settlements that moved it. `windows`: those that swept one, oldest first. */
export const auditWindow = (input: {
  readonly settlements: readonly Settlement[]
  readonly windows: readonly Settlement[]
  readonly window: Window
  readonly client: Client
}): readonly Difference[] => {
  const { settlements, windows, window, client } = input
  const written = client.ledgerParts?.number ?? 1
  const waiting = settlements.filter(({ settlementId }) => window.recreditedIds?.has(settlementId))
  const recredited = settlements.filter(({ recreditedAt }) => recreditedAt !== undefined)
  return [
    ...auditChain(windows, client, window),
    ...differs('window.settled_minor', WINDOW, netOf(windows), window.settledMinor),
    ...differs('window.available_minor', WINDOW, netOf(waiting) - reversedOf(waiting), window.availableMinor),
    ...differs('window.reversed_swept_minor', WINDOW, reversedOf(recredited), window.reversedSweptMinor ?? 0),
    ...auditPayouts(settlements, window),
    ...auditChangedAt(settlements, window),
    ...auditRecredits(settlements, window),
    // Read behind the client, and both are written together: it may know of more parts, never of fewer.
    ...breaks('window.parts', WINDOW, partsOf(window) < written, `${written} or more`, partsOf(window)),
  ]
}
