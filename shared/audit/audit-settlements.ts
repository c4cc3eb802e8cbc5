import type { Deps } from '../deps.ts'
import { timeOfUuid } from '../ids.ts'
import type { Window } from '../ledger/ledger-store.ts'
import { less, plus, ZERO } from '../money.ts'
import { listAudit } from '../operator/audit-trail.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { NO_SUMS, type Sums } from '../settlement/sums.ts'
import type { Timestamp } from '../time.ts'
import { timestampOf } from '../time.ts'
import { type Difference, differs } from './difference.ts'

const SUM_FIELDS = ['grossMinor', 'providerFeesMinor', 'markupMinor', 'netMinor', 'paymentCount'] as const

const auditSums = (settlement: Settlement, paid: Sums): readonly Difference[] => {
  const id = settlement.settlementId
  const net = less(less(settlement.grossMinor, settlement.providerFeesMinor), settlement.markupMinor)
  return [
    ...differs('settlement.net', id, net, settlement.netMinor),
    ...SUM_FIELDS.flatMap((field) => differs(`settlement.${field}`, id, paid[field], settlement[field])),
    // The id begins with the time it was made.
    ...differs('settlement.created_at', id, timestampOf(timeOfUuid(id)), settlement.createdAt),
  ]
}

/** A settlement's status and times must be those its last audit record left it with. */
const auditTrail = async (deps: Pick<Deps, 'table'>, settlement: Settlement): Promise<readonly Difference[]> => {
  const id = settlement.settlementId
  const trail = await listAudit(deps, id)
  const last = trail.findLast(({ action }) => action !== 'trigger-settlement')?.after
  const value = (field: string) => {
    const found = last?.[field]
    return typeof found === 'string' ? found : undefined
  }
  return [
    ...differs('settlement.status', id, value('status') ?? 'recorded', settlement.status),
    ...differs('settlement.settled_at', id, value('settled_at'), settlement.settledAt),
    ...differs('settlement.recredited_at', id, value('recredited_at'), settlement.recreditedAt),
  ]
}

/** Windows follow one another without gap or overlap, from the client's beginning to where the window stands. */
const auditChain = (windows: readonly Settlement[], born: Timestamp, window: Window): readonly Difference[] => {
  let start: Timestamp = born
  const gaps = windows.flatMap((settlement) => {
    const difference = differs('settlement.period_start', settlement.settlementId, start, settlement.periodStart)
    start = settlement.periodEnd
    return difference
  })
  return [...gaps, ...differs('window.settled_until', 'window', start, window.settledUntil)]
}

const auditWindow = (settlements: readonly Settlement[], windows: readonly Settlement[], window: Window) => {
  const settled = windows.reduce((sum, { netMinor }) => plus(sum, netMinor), ZERO)
  const waiting = settlements
    .filter(({ settlementId }) => window.recreditedIds?.has(settlementId))
    .reduce((sum, { netMinor }) => plus(sum, netMinor), ZERO)
  return [
    ...differs('window.settled_minor', 'window', settled, window.settledMinor),
    ...differs('window.available_minor', 'window', waiting, window.availableMinor),
  ]
}

/** A recredited settlement either waits in the window or was recorded again; nothing else has happened to its funds. */
const auditRecredits = (settlements: readonly Settlement[], window: Window): readonly Difference[] =>
  settlements.flatMap((settlement) => {
    const id = settlement.settlementId
    const waiting = window.recreditedIds?.has(id) === true ? 1 : 0
    const replacements = settlements.filter(({ replaces }) => replaces === id).length
    const expected = settlement.recreditedAt === undefined ? 0 : 1
    return differs('settlement.recredits', id, expected, waiting + replacements)
  })

/**
 * Settlements against each other, the window, their payments and their audit trail. Settled windows do not change any
 * more, so every difference counts at once.
 */
export const auditSettlements = async (
  deps: Pick<Deps, 'table'>,
  input: {
    readonly settlements: readonly Settlement[]
    readonly window: Window
    readonly born: Timestamp
    readonly paidIn: ReadonlyMap<Timestamp, Sums>
  },
): Promise<readonly Difference[]> => {
  const { settlements, window, born, paidIn } = input
  const windows = settlements
    .filter(({ replaces }) => replaces === undefined)
    .toSorted((a, b) => (a.periodStart < b.periodStart ? -1 : 1))
  const differences: Difference[] = []
  for (const settlement of settlements) {
    differences.push(...auditSums(settlement, paidIn.get(settlement.periodStart) ?? NO_SUMS))
    differences.push(...(await auditTrail(deps, settlement)))
  }
  return [
    ...differences,
    ...auditChain(windows, born, window),
    ...auditWindow(settlements, windows, window),
    ...auditRecredits(settlements, window),
  ]
}
