import type { Client } from '../client/client.ts'
import { clientIdPages, findClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { plus } from '../money.ts'
import { MINUTE_MS } from '../time.ts'
import { type BooksDeps, clientBooks } from './client-books.ts'
import { readComparedBooks } from './compared-books-store.ts'
import { addFigures, explained, FIGURE_NAMES, type Figures, figure, isBalanced, percentOf, SOURCES } from './figures.ts'
import { type OpenSuspense, openSuspense } from './open-suspense.ts'
import { readTold, SUBJECTS, sumOf, withAccepted } from './told-differences.ts'

type GetDeps = BooksDeps & Pick<Deps, 'monotonicMs'>

/** Four of the five minutes its function has. */
const LOOKING_MS = 4 * MINUTE_MS

/** The design's body (section 7), and how much of the money is explained. */
const answer = (
  figures: Figures,
  about: {
    readonly suspense: OpenSuspense
    /** Nothing certain can be said: it moved meanwhile, or there was more than its time. */
    readonly isUncertain: boolean
    readonly sourceOf: (name: (typeof FIGURE_NAMES)[number]) => string
  },
) => {
  const { suspense, isUncertain, sourceOf } = about
  const all = addFigures(figures, suspense.figures)
  const balanced = isBalanced(all) && suspense.findings === 0
  const ours = sumOf(SUBJECTS.map((subject) => figure(all, subject)))
  const unexplainedMinor = plus(ours, figure(all, 'provider_differs'))
  return {
    figures: FIGURE_NAMES.map((name) => ({ name, amount_minor: figure(all, name), source: sourceOf(name) })),
    balanced: isUncertain || !suspense.isWhole ? ('inconclusive' as const) : balanced,
    explained_percent: percentOf(explained(all, unexplainedMinor)),
  }
}

const ofClient = async (deps: GetDeps, client: Client, isOver: () => boolean) => {
  const books = await clientBooks(deps, client, isOver)
  return books && { ...books, figures: withAccepted(books.figures, await readTold(deps, client.clientId)) }
}

/**
 * A client's books now, each figure from its own source. A history that one run cannot count is gone on with by the next:
 * `inconclusive`, and without figures until then. Throws 404 for an unknown client.
 */
export const getClientBooks = async (deps: GetDeps, clientId: ClientId) => {
  const client = await findClient(deps, clientId)
  if (client === undefined) throw notFound('client')
  const endsAtMs = deps.monotonicMs() + LOOKING_MS
  const books = await ofClient(deps, client, () => deps.monotonicMs() >= endsAtMs)
  const suspense = await openSuspense(deps, clientId)
  const figures = books?.figures ?? {}
  return answer(figures, {
    suspense,
    isUncertain: books === undefined || (books.stand === undefined && !isBalanced(figures)),
    sourceOf: (name) => SOURCES[name],
  })
}

/** New clients, which no comparison has seen yet, are looked at here; more of them wait for tomorrow's. */
const MOST_LOOKED_AT = 50

const newClients = async (deps: GetDeps, clientIds: readonly ClientId[], isOver: () => boolean) => {
  let figures: Figures = {}
  let looked = 0
  for (const clientId of clientIds.slice(0, MOST_LOOKED_AT)) {
    const client = isOver() ? undefined : await findClient(deps, clientId)
    const books = client && (await ofClient(deps, client, isOver))
    if (books === undefined) continue
    figures = addFigures(figures, books.figures)
    looked++
  }
  return { figures, looked }
}

/**
 * The books of all clients: the sums of what the daily comparison saw of each, and what is open in suspense now, whoever
 * it is about. A thousand clients are ten batches, so that one run has time for some hundred thousand.
 */
export const getAllBooks = async (deps: GetDeps) => {
  const endsAtMs = deps.monotonicMs() + LOOKING_MS
  const isOver = () => deps.monotonicMs() >= endsAtMs
  let figures: Figures = {}
  let clients = 0
  let oldest: string | undefined
  const unseen: ClientId[] = []
  let isWhole = true
  for await (const clientIds of clientIdPages(deps)) {
    isWhole = !isOver()
    if (!isWhole) break
    const compared = await readComparedBooks(deps, clientIds)
    for (const [at, books] of compared.entries()) {
      const clientId = clientIds[at]
      if (books === undefined && clientId !== undefined) unseen.push(clientId)
      if (books === undefined) continue
      figures = addFigures(figures, books.figures)
      clients++
      if (oldest === undefined || books.at < oldest) oldest = books.at
    }
  }
  const added = await newClients(deps, unseen, isOver)
  const suspense = await openSuspense(deps, undefined)
  const seen = `the daily comparison of ${clients} clients, the oldest of ${oldest ?? 'none'}`
  return {
    ...answer(addFigures(figures, added.figures), {
      suspense,
      isUncertain: !isWhole || added.looked < unseen.length,
      sourceOf: (name) => (SOURCES[name].startsWith('suspense: open') ? SOURCES[name] : `${seen}; ${SOURCES[name]}`),
    }),
    clients: clients + added.looked,
    not_compared: unseen.length - added.looked,
  }
}
