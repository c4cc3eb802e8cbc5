import { chunks } from '../chunks.ts'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import type { Window } from '../ledger/ledger-store.ts'
import type { Timestamp } from '../time.ts'
import { auditBank, registeredAccounts } from './audit-bank.ts'
import { auditDeducted, auditReversals, type ReversalBooks, readableReversals } from './audit-reversals.ts'
import { auditSettlement, type StoredSettlement } from './audit-settlement.ts'
import { auditTrails, readTrail } from './audit-trail.ts'
import { auditWindow } from './audit-window.ts'
import { breaks, type Difference, differs, MAX_DIFFERENCES } from './difference.ts'
import { compareShards, emptyTally, tallyPayment, tallyReversals } from './ledger-tally.ts'
import { readPaidWindow } from './paid-window.ts'
import { type JudgedPayment, judgeById, judgedPages, readableLedger, readSettlements } from './read-books.ts'
import { NOTHING_READ, readSealedBooks, readWindowSeals } from './seal-store.ts'
import { auditSwept, type SettledSums, type SettledWindows, SUM_FIELDS, settledWindows } from './settled-sums.ts'

type ScanDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now'>

/** One reading of a client's books. */
export type Scan = {
  /** Of parts that stood still while they were read. */
  readonly standing: readonly Difference[]
  /** Of parts that live traffic moved meanwhile: they say nothing certain. */
  readonly moving: readonly Difference[]
  /** False when its time was over before all was read: then nothing is said of any sum. */
  readonly isWhole: boolean
}

export type ScanOptions = {
  readonly indexLagMs: number
  /** Everything is read again, also what was sealed, and held against its seals. */
  readonly full: boolean
  readonly isOver: () => boolean
}

/** Subjects whose audit records are read side by side. */
const SUBJECT_CONCURRENCY = 20

type Sums = ReadonlyMap<Timestamp, SettledSums>

/** The sums of each window: as sealed, or counted from its payments. Undefined when the time was over before. */
const windowSums = async (
  deps: ScanDeps,
  { clientId, parts, swept }: { readonly clientId: ClientId; readonly parts: number; readonly swept: SettledWindows },
  { full, isOver }: ScanOptions,
): Promise<{ readonly sums: Sums; readonly differences: readonly Difference[] } | undefined> => {
  const seals = new Map((await readWindowSeals(deps, clientId)).map((seal) => [seal.periodStart, seal]))
  const sums = new Map<Timestamp, SettledSums>()
  const differences: Difference[] = []
  let previous = ''
  for (const seal of seals.values()) {
    const { periodStart, periodEnd } = seal
    const isSettled = swept.windows.some((one) => one.periodStart === periodStart && one.periodEnd === periodEnd)
    differences.push(...breaks('seal.period', 'window', !isSettled, 'a window that was settled', periodStart))
  }
  for (const { settlementId, periodStart: start, periodEnd: end } of swept.windows) {
    const seal = seals.get(start)
    const isSealed = seal?.periodEnd === end
    if (isSealed && !full) {
      sums.set(start, seal)
      previous = seal.digest
      continue
    }
    if (isOver()) return undefined
    const read = await readPaidWindow(deps, { clientId, parts, period: { start, end } }, { previous, isOver })
    if (read.part) return undefined
    sums.set(start, read.sums)
    if (isSealed) {
      differences.push(...differs('window.digest', settlementId, seal.digest, read.digest))
      for (const field of SUM_FIELDS)
        differences.push(...differs(`seal.${field}`, settlementId, read.sums[field], seal[field]))
    }
    previous = isSealed ? seal.digest : read.digest
  }
  return { sums, differences }
}

const auditSettlements = async (
  deps: ScanDeps,
  clientId: ClientId,
  stored: readonly StoredSettlement[],
  { books, sums, full }: { readonly books: ReversalBooks; readonly sums: Sums; readonly full: boolean },
): Promise<{ readonly ofWindows: readonly Difference[]; readonly standing: readonly Difference[] }> => {
  const trail = await readTrail(deps, clientId)
  const accounts = registeredAccounts(trail.records)
  const all = stored.map(({ settlement }) => settlement)
  const ofWindows: Difference[] = []
  for (const some of chunks(stored, SUBJECT_CONCURRENCY)) {
    const differences = await Promise.all(
      some.map((one) =>
        auditSettlement(deps, one, { clientId, all, books, paid: sums.get(one.settlement.periodStart) }),
      ),
    )
    ofWindows.push(...differences.flat())
  }
  const known = new Set<string>([clientId, ...all.map(({ settlementId }) => settlementId)])
  const others = await auditTrails(deps, clientId, { full, known })
  const standing = [...trail.differences, ...others, ...all.flatMap((settlement) => auditBank(settlement, accounts))]
  return { ofWindows, standing }
}

const isSameWindow = (before: Window, after: Window | undefined): boolean =>
  before.settledUntil === after?.settledUntil &&
  before.settledMinor === after.settledMinor &&
  before.availableMinor === after.availableMinor &&
  before.inSettlementMinor === after.inSettlementMinor &&
  before.paidOutMinor === after.paidOutMinor &&
  before.reversalSeq === after.reversalSeq &&
  before.reversedSweptMinor === after.reversedSweptMinor &&
  before.changedAt === after.changedAt

const only = (standing: readonly Difference[]): Scan => ({ standing, moving: [], isWhole: true })

/**
 * Reads a client's books once, from where they are sealed to the end, and holds every part against the others. The
 * ledger is read before and behind the rest: what is the same both times stood still meanwhile.
 */
export const scanBooks = async (deps: ScanDeps, client: Client, options: ScanOptions): Promise<Scan> => {
  const { clientId } = client
  // Before the ledger: what is sealed is in every ledger read from now on.
  const sealed = options.full ? NOTHING_READ : await readSealedBooks(deps, clientId)
  const before = await readableLedger(deps, clientId)
  if (before === undefined) return only(differs('ledger', clientId, 'readable', 'unreadable'))
  const { window, parts } = before
  if (window === undefined) return only(differs('window', clientId, 'present', undefined))
  if (options.indexLagMs > 0) await deps.sleep(options.indexLagMs)
  const { stored, unreadable } = await readSettlements(deps, clientId, window.openIds)
  const settlements = stored.map(({ settlement }) => settlement)
  const swept = settledWindows(settlements, window.settledUntil)
  const tally = emptyTally(before, sealed.shards)
  const books = await readableReversals(deps, clientId)
  if (books === undefined) return only(differs('reversals', clientId, 'readable', 'unreadable'))
  tallyReversals(tally, books)
  const deductionsOf = auditDeducted(books)
  const standing: Difference[] = [...unreadable]
  const ofWindows: Difference[] = [...auditReversals(books, window)]
  const judge = ({ payment, differences }: JudgedPayment) => {
    if (payment) tallyPayment(tally, payment)
    // The answer is bounded; so is what is remembered of a long history in which all is wrong.
    if (standing.length < MAX_DIFFERENCES) standing.push(...differences)
    if (payment && ofWindows.length < MAX_DIFFERENCES) {
      ofWindows.push(...auditSwept(swept, payment), ...deductionsOf(payment))
    }
  }
  for (const judged of await judgeById(deps, clientId, [...(sealed.openIds ?? [])])) judge(judged)
  for await (const judged of judgedPages(deps, clientId, { parts, after: sealed.place })) {
    for (const one of judged) judge(one)
    if (options.isOver()) return { standing, moving: [], isWhole: false }
  }
  const counted = await windowSums(deps, { clientId, parts, swept }, options)
  if (counted === undefined) return { standing, moving: [], isWhole: false }
  const ofSettlements = await auditSettlements(deps, clientId, stored, {
    books,
    sums: counted.sums,
    full: options.full,
  })
  standing.push(...ofSettlements.standing, ...counted.differences)
  ofWindows.push(...ofSettlements.ofWindows, ...auditWindow({ settlements, windows: swept.windows, window, client }))
  const after = await readableLedger(deps, clientId)
  if (after === undefined) return only(differs('ledger', clientId, 'readable', 'unreadable'))
  const shards = compareShards(tally, after.shards)
  const stood = isSameWindow(window, after.window)
  return {
    standing: [...standing, ...shards.standing, ...(stood ? ofWindows : [])],
    moving: [...shards.moving, ...(stood ? [] : ofWindows)],
    isWhole: true,
  }
}
