import { readableLedger } from '../audit/read-books.ts'
import { findClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { ledgerStand } from '../ledger/ledger-stand.ts'
import type { Minor } from '../money.ts'
import { MAX_DELAY_SECONDS } from '../queues.ts'
import { addMs, MINUTE_MS, msBetween, SECOND_MS, type Timestamp } from '../time.ts'
import { clientBooks } from './client-books.ts'
import { type ComparedBooks, keepComparedBooks, readComparedBooks } from './compared-books-store.ts'
import { DIFFERENCE_AGE_MS } from './count-paid.ts'
import { explained, type Figures, figure } from './figures.ts'
import { readTold, SUBJECTS, sumOf, tellDifference, withAccepted } from './told-differences.ts'

type CompareDeps = Pick<Deps, 'table' | 'stage' | 'queues' | 'alerts' | 'sleep' | 'now' | 'monotonicMs' | 'log'>

/** How long a run counts: half of the five minutes its function has. */
const COUNTING_MS = 2.5 * MINUTE_MS

/** The next look, at once or when a difference is an hour old. A message that is lost costs a day. */
const lookAgain = (deps: CompareDeps, clientId: ClientId, notBefore: Timestamp): Promise<void> => {
  const waitSeconds = Math.max(0, Math.ceil(msBetween(deps.now(), notBefore) / SECOND_MS))
  return deps.queues.send('audits', {
    body: { client_id: clientId, books: true, not_before: notBefore },
    delaySeconds: Math.min(MAX_DELAY_SECONDS, waitSeconds),
    group: clientId,
  })
}

/** Figures and their measure, in one line each day and client. */
export const reportBooks = (
  { log }: Pick<Deps, 'log'>,
  figures: Figures,
  unexplainedMinor: Minor,
  clientId?: ClientId,
): void => {
  const { totalMinor, explainedMinor } = explained(figures, unexplainedMinor)
  log.info('books.compared', { client_id: clientId, total_minor: totalMinor, explained_minor: explainedMinor })
}

/** Nothing has moved since, and nothing was waited for: it would be the same again. */
const isStill = ({ stand, differences, figures }: ComparedBooks, now: string): boolean =>
  stand === now && differences.length === 0 && figure(figures, 'accepted') === 0

type Difference = ComparedBooks['differences'][number]

/** Since when a difference is this one. What is overdue at the provider is an hour old by its definition. */
const differencesOf = (figures: Figures, last: ComparedBooks | undefined, now: Timestamp): readonly Difference[] =>
  SUBJECTS.flatMap((subject) => {
    const amountMinor = figure(figures, subject)
    if (amountMinor === 0) return []
    const known = last?.differences.find((one) => one.subject === subject && one.amountMinor === amountMinor)
    const first = subject === 'provider_overdue' ? addMs(now, -DIFFERENCE_AGE_MS) : now
    return [{ subject, amountMinor, since: known?.since ?? first }]
  })

/** Whoever came between may have seen less, and told it before this one told more: the next must not leave it alone. */
const compareAnyway = async (deps: CompareDeps, clientId: ClientId): Promise<void> => {
  const [theirs] = await readComparedBooks(deps, [clientId])
  if (theirs?.stand !== undefined) await keepComparedBooks(deps, clientId, { ...theirs, stand: undefined }, theirs)
}

const compareNow = async (deps: CompareDeps, clientId: ClientId): Promise<void> => {
  const client = await findClient(deps, clientId)
  const ledger = await readableLedger(deps, clientId)
  // One that cannot be read is the audit's imbalance.
  if (client === undefined || ledger === undefined) return
  const [last] = await readComparedBooks(deps, [clientId])
  if (last && isStill(last, ledgerStand(ledger))) {
    reportBooks(deps, last.figures, last.unexplainedMinor, clientId)
    return
  }
  const endsAtMs = deps.monotonicMs() + COUNTING_MS
  const { pages } = deps.stage.historySteps ?? { pages: Number.POSITIVE_INFINITY }
  let read = 0
  const isOver = () => ++read >= pages || deps.monotonicMs() >= endsAtMs
  const books = await clientBooks(deps, client, isOver)
  if (books === undefined) return lookAgain(deps, clientId, deps.now())
  const told = await readTold(deps, clientId)
  const figures = withAccepted(books.figures, told)
  const at = deps.now()
  const differences = differencesOf(figures, last, at)
  const young = differences.filter(({ since }) => since > addMs(at, -DIFFERENCE_AGE_MS))
  const old = differences.filter((difference) => !young.includes(difference))
  for (const subject of SUBJECTS) {
    if (young.some((difference) => difference.subject === subject)) continue
    const isAccepted = figure(figures, subject) === 0 && figure(books.figures, subject) !== 0
    if (isAccepted) continue
    await tellDifference(deps, clientId, { subject, amountMinor: figure(figures, subject), known: told.get(subject) })
  }
  const unexplainedMinor = sumOf(old.map(({ amountMinor }) => amountMinor))
  const stand = books.isFinal ? books.stand : undefined
  const compared = { at, figures: { ...figures }, stand, differences: [...differences], unexplainedMinor }
  const { applied } = await keepComparedBooks(deps, clientId, compared, last)
  if (!applied) {
    await compareAnyway(deps, clientId)
    return
  }
  reportBooks(deps, figures, unexplainedMinor, clientId)
  const [first] = young.map(({ since }) => since).toSorted((a, b) => (a < b ? -1 : 1))
  if (first !== undefined) await lookAgain(deps, clientId, addMs(first, DIFFERENCE_AGE_MS))
}

/**
 * One client's part of the daily comparison: what was received, credited, swept and paid out, and what the provider says
 * it settled, each from its own source (issue: three-way truth). A difference is looked at again an hour later and is
 * then a finding; each day until it is gone. A client of which nothing moves and nothing is waited for costs three reads.
 * Safe to repeat, from wherever it died.
 */
export const compareBooks = async (
  deps: CompareDeps,
  clientId: ClientId,
  notBefore: Timestamp | undefined,
): Promise<void> =>
  notBefore !== undefined && notBefore > deps.now() ? lookAgain(deps, clientId, notBefore) : compareNow(deps, clientId)
