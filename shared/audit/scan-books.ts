import * as v from 'valibot'
import { chunks } from '../chunks.ts'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { type Ledger, readLedger, type Window } from '../ledger/ledger-store.ts'
import { type Payment, PaymentSchema } from '../payment/payment.ts'
import { SettlementSchema } from '../settlement/settlement.ts'
import { sweptUntil } from '../settlement/window-store.ts'
import type { Item } from '../table/attributes.ts'
import { eventKey, type Key, paymentKey, settlementKey } from '../table/keys.ts'
import { auditBank, registeredAccounts } from './audit-bank.ts'
import { auditEvent, eventTypeOf } from './audit-event.ts'
import { auditPayment } from './audit-payment.ts'
import { auditSettlement, type StoredSettlement } from './audit-settlement.ts'
import { auditWindow } from './audit-window.ts'
import { type Difference, differs } from './difference.ts'
import { compareShards, emptyTally, type LedgerTally, tallyPayment } from './ledger-tally.ts'
import { type OwnedItem, ownedItems } from './owned-items.ts'
import { addToWindow, type SettledWindows, settledWindows } from './settled-sums.ts'

type ScanDeps = Pick<Deps, 'table' | 'sleep' | 'now'>

/** One reading of a client's books. */
export type Scan = {
  /** Of parts that stood still while they were read. */
  readonly standing: readonly Difference[]
  /** Of parts that live traffic moved meanwhile: they say nothing certain. */
  readonly moving: readonly Difference[]
}

type Found = { readonly standing: Difference[]; readonly ofWindows: Difference[] }

/** Subjects whose audit records are read side by side. */
const SUBJECT_CONCURRENCY = 20

const idOf = ({ pk }: Key) => pk.slice(pk.indexOf('#') + 1)

const settlementsOf = async (deps: ScanDeps, clientId: ClientId, standing: Difference[]) => {
  const stored: StoredSettlement[] = []
  for await (const page of ownedItems(deps, clientId, 'settlement')) {
    for (const { key, item } of page) {
      const parsed = v.safeParse(SettlementSchema, item)
      const isWhole = parsed.success && settlementKey(parsed.output.settlementId).pk === key.pk
      if (isWhole && item) stored.push({ settlement: parsed.output, item })
      else standing.push(...differs('settlement', idOf(key), 'readable', 'unreadable'))
    }
  }
  return stored
}

type Read = { readonly payment: Payment; readonly item: Item }

const readable = (owned: OwnedItem, standing: Difference[]): readonly Read[] => {
  const parsed = v.safeParse(PaymentSchema, owned.item)
  if (parsed.success && owned.item && paymentKey(parsed.output.paymentId).pk === owned.key.pk) {
    return [{ payment: parsed.output, item: owned.item }]
  }
  standing.push(...differs('payment', idOf(owned.key), 'readable', 'unreadable'))
  return []
}

const eventsOf = async (deps: ScanDeps, reads: readonly Read[]): Promise<ReadonlyMap<string, Item>> => {
  const keys = reads.flatMap(({ payment }) => {
    const type = eventTypeOf(payment)
    return type === undefined ? [] : [eventKey(payment.paymentId, type)]
  })
  const items = await deps.table.getMany(keys)
  return new Map(items.flatMap((item) => (item ? [[String(item['pk']), item] as const] : [])))
}

const scanPayments = async (
  deps: ScanDeps,
  clientId: ClientId,
  into: { readonly tally: LedgerTally; readonly swept: SettledWindows; readonly found: Found },
): Promise<void> => {
  const { tally, swept, found } = into
  for await (const page of ownedItems(deps, clientId, 'payment')) {
    const reads = page.flatMap((owned) => readable(owned, found.standing))
    const events = await eventsOf(deps, reads)
    const about = { clientId, now: deps.now() }
    for (const { payment, item } of reads) {
      tallyPayment(tally, payment)
      found.standing.push(...auditPayment(payment, item, about))
      found.standing.push(...auditEvent(payment, events.get(paymentKey(payment.paymentId).pk)))
      found.ofWindows.push(...addToWindow(swept, payment))
    }
  }
}

const scanSettlements = async (
  deps: ScanDeps,
  clientId: ClientId,
  stored: readonly StoredSettlement[],
  swept: SettledWindows,
  found: Found,
): Promise<void> => {
  const accounts = await registeredAccounts(deps, clientId)
  const all = stored.map(({ settlement }) => settlement)
  for (const some of chunks(stored, SUBJECT_CONCURRENCY)) {
    const differences = await Promise.all(
      some.map((one) =>
        auditSettlement(deps, one, { clientId, all, paid: swept.sums.get(one.settlement.periodStart) }),
      ),
    )
    found.ofWindows.push(...differences.flat())
    for (const { settlement } of some) found.standing.push(...auditBank(settlement, accounts))
  }
}

const isSameWindow = (before: Window, after: Window | undefined): boolean =>
  before.settledUntil === after?.settledUntil &&
  before.settledMinor === after.settledMinor &&
  before.availableMinor === after.availableMinor &&
  before.inSettlementMinor === after.inSettlementMinor &&
  before.paidOutMinor === after.paidOutMinor &&
  before.payoutsCounted === after.payoutsCounted &&
  before.changedAt === after.changedAt

const unreadable = (clientId: ClientId): Scan => ({
  standing: differs('ledger', clientId, 'readable', 'unreadable'),
  moving: [],
})

/** A ledger whose figures are no figures cannot be read at all; that is a difference, not a failure of the audit. */
const ledgerOf = async (deps: ScanDeps, clientId: ClientId): Promise<Ledger | undefined> => {
  try {
    return await readLedger(deps, clientId)
  } catch (error) {
    if (v.isValiError(error)) return undefined
    throw error
  }
}

/**
 * Reads a client's books once, from beginning to end, and holds every part against the others. The ledger is read
 * before and behind the rest: what is the same both times stood still meanwhile.
 */
export const scanBooks = async (deps: ScanDeps, client: Client, indexLagMs: number): Promise<Scan> => {
  const { clientId } = client
  const before = await ledgerOf(deps, clientId)
  if (before === undefined) return unreadable(clientId)
  const { window } = before
  if (window === undefined) return { standing: differs('window', clientId, 'present', undefined), moving: [] }
  if (indexLagMs > 0) await deps.sleep(indexLagMs)
  const found: Found = { standing: [], ofWindows: [] }
  const stored = await settlementsOf(deps, clientId, found.standing)
  const settlements = stored.map(({ settlement }) => settlement)
  const swept = settledWindows(settlements, sweptUntil(client, window))
  const tally = emptyTally(before.shards)
  await scanPayments(deps, clientId, { tally, swept, found })
  await scanSettlements(deps, clientId, stored, swept, found)
  found.ofWindows.push(...auditWindow({ settlements, windows: swept.windows, window, client }))
  const after = await ledgerOf(deps, clientId)
  if (after === undefined) return unreadable(clientId)
  const shards = compareShards(tally, after.shards)
  const stood = isSameWindow(window, after.window)
  return {
    standing: [...found.standing, ...shards.standing, ...(stood ? found.ofWindows : [])],
    moving: [...shards.moving, ...(stood ? [] : found.ofWindows)],
  }
}
