import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { partsOf } from '../ledger/ledger-store.ts'
import type { Payment } from '../payment/payment.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { readWindow } from '../settlement/window-store.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { addMs, HOUR_MS } from '../time.ts'
import { emptyTally, sealedShards, tallyPayment } from './ledger-tally.ts'
import { readPaidWindow } from './paid-window.ts'
import { type JudgedPayment, judgeById, judgedPages, readableLedger, readSettlements } from './read-books.ts'
import { keepSealedBooks, putWindowSeal, readSealedBooks, readWindowSeals, type SealedBooks } from './seal-store.ts'
import { auditSwept, type SettledWindows, SUM_FIELDS, settledWindows } from './settled-sums.ts'

type SealDeps = Pick<Deps, 'table' | 'stage' | 'now'>

/** What came of one run: the rest is the next one's, or another run is at it. */
export type Sealed = 'all' | 'unfinished' | 'overtaken'

type Run = {
  readonly client: Client
  /** How many the client has. */
  readonly parts: number
  readonly swept: SettledWindows
  readonly isOver: () => boolean
}

/** Rows of an index appear within seconds; payments made on machines whose clocks differ, within a minute. */
const SETTLES_MS = HOUR_MS

/**
 * Payments that can still change are read again by every audit, one by one: so many are kept, and payments behind them
 * wait until some of them are done.
 */
const MOST_OPEN = 200

const addsUp = (settlement: Settlement, sums: Readonly<Record<(typeof SUM_FIELDS)[number], number>>): boolean =>
  SUM_FIELDS.every((field) => sums[field] === settlement[field])

/**
 * Seals settled windows one after the other, as long as they are right: one that is not, and those behind it, stay to
 * be judged by every audit.
 */
const sealWindows = async (
  deps: SealDeps,
  { client: { clientId }, parts, swept, isOver }: Run,
  books: SealedBooks,
): Promise<SealedBooks | Sealed> => {
  const seals = new Map((await readWindowSeals(deps, clientId)).map((seal) => [seal.periodStart, seal]))
  let previous = ''
  let { part, ...rest } = books
  for (const settlement of swept.windows) {
    const { periodStart: start, periodEnd: end } = settlement
    const seal = seals.get(start)
    if (seal) {
      if (seal.periodEnd !== end || !addsUp(settlement, seal)) break
      previous = seal.digest
      continue
    }
    const read = await readPaidWindow(deps, { clientId, parts, period: { start, end } }, { previous, part, isOver })
    if (read.part)
      return (await keepSealedBooks(deps, clientId, { ...rest, part: read.part })) ? 'unfinished' : 'overtaken'
    part = undefined
    if (!addsUp(settlement, read.sums)) break
    await putWindowSeal(deps, clientId, { periodStart: start, periodEnd: end, ...read.sums, digest: read.digest })
    previous = read.digest
  }
  return rest
}

/** The payment, if nothing about it can change any more and nothing is wrong with it. */
const donePayment = ({ payment, differences }: JudgedPayment, swept: SettledWindows): Payment | undefined => {
  if (payment === undefined || differences.length > 0 || payment.status === 'pending') return undefined
  const { status, paidAt } = payment
  if (status !== 'succeeded') return payment
  const isSwept = paidAt !== undefined && paidAt < swept.until
  return isSwept && auditSwept(swept, payment).length === 0 ? payment : undefined
}

const sealOpen = async (deps: SealDeps, run: Run, books: SealedBooks): Promise<SealedBooks | undefined> => {
  const openIds = [...(books.openIds ?? [])]
  if (openIds.length === 0) return books
  return keepDone(deps, run, books, { judged: await judgeById(deps, run.client.clientId, openIds), place: books.place })
}

/** Puts what is done into the tally, and keeps the rest open. As it was, when too many would be; undefined: overtaken. */
const keepDone = async (
  deps: SealDeps,
  { client: { clientId }, swept }: Run,
  books: SealedBooks,
  read: { readonly judged: readonly JudgedPayment[]; readonly place: SealedBooks['place'] },
): Promise<SealedBooks | undefined> => {
  // Behind the payments: a correction that they show is in these shards.
  const ledger = await readableLedger(deps, clientId)
  if (ledger === undefined) return books
  const tally = emptyTally(ledger, books.shards)
  const openIds = new Set(read.place === books.place ? [] : books.openIds)
  for (const judged of read.judged) {
    const done = donePayment(judged, swept)
    if (done) tallyPayment(tally, done)
    else openIds.add(judged.id)
  }
  if (openIds.size > MOST_OPEN) return books
  const shards = [...sealedShards(tally, books.shards)]
  return keepSealedBooks(deps, clientId, { ...books, place: read.place, shards, openIds })
}

/** Seals payments in the order they were made. */
const sealPayments = async (deps: SealDeps, run: Run, books: SealedBooks): Promise<Sealed> => {
  const { client, parts } = run
  const { clientId } = client
  let kept = await sealOpen(deps, run, books)
  if (kept === undefined) return 'overtaken'
  const horizon = addMs(deps.now(), -SETTLES_MS)
  const { rows } = deps.stage.historySteps ?? HISTORY_STEPS
  for await (const page of judgedPages(deps, clientId, { parts, after: kept.place, rows })) {
    const judged = page.filter(({ place }) => place.listedAt < horizon)
    const place = judged.at(-1)?.place
    if (place === undefined) return 'all'
    const next: SealedBooks | undefined = await keepDone(deps, run, kept, { judged, place })
    if (next === undefined) return 'overtaken'
    if (next === kept || judged.length < page.length) return 'all'
    kept = next
    if (run.isOver()) return 'unfinished'
  }
  return 'all'
}

/**
 * Seals what is right and final of a client's books, so that the next audit reads only what is new (design section 4,
 * "Audit"): settled windows by their payments and a digest over the one before, and payments in the order they were
 * made, as what they put into each shard. Kept page by page on what was kept before: a run that dies or whose time is
 * over is gone on with, and of two at once one goes on.
 */
export const sealBooks = async (deps: SealDeps, client: Client, isOver: () => boolean): Promise<Sealed> => {
  const { clientId } = client
  const books = await readSealedBooks(deps, clientId)
  const window = await readWindow(deps, clientId)
  const { stored } = await readSettlements(deps, clientId)
  const swept = settledWindows(
    stored.map(({ settlement }) => settlement),
    window.settledUntil,
  )
  const run = { client, parts: partsOf(window), swept, isOver }
  const sealed = await sealWindows(deps, run, books)
  return typeof sealed === 'string' ? sealed : sealPayments(deps, run, sealed)
}
