import * as v from 'valibot'
import { STRAY_EVENT, tellsOf } from '../audit/judged/audit-event.ts'
import { type JudgedPayment, judgeById } from '../audit/judged/audit-payments.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { mapInChunks } from '../chunks.ts'
import { requireClient } from '../client/client-store.ts'
import { GatewayError, invalid } from '../errors.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { entryPages } from '../journal/read-entries.ts'
import { parseStored } from '../payment/payment-store.ts'
import { paymentKey } from '../table/keys.ts'
import { END_OF_TIME, SECOND_MS, TimestampSchema } from '../time.ts'
import { readClientVerdict } from '../verdict/client-verdict-store.ts'
import { type Difference, isExactly, isSame } from '../verdict/difference.ts'
import { completePayment, storedEvent } from './complete-payment.ts'
import { planForward } from './plan-forward.ts'
import { isCount, isFigure, isOfLeftOut, judgeFigures, repairedBooks, repairFigures } from './recount-figures.ts'
import { judgeSettlements, recreditLeftOut, repairVerdicts } from './recount-settlements.ts'
import type { RecountBy, RecountDeps, Repair, StrayEntry } from './repair.ts'

type Recounted = {
  /** The repaired differences, with the values that were found. */
  readonly written: readonly Difference[]
  /** Differences that changed meanwhile, or belong to a payment's second transaction: audit and recount again. */
  readonly left: readonly Difference[]
}

const NAMED = 20

const namesOf = (differences: readonly Difference[]): readonly string[] =>
  differences.slice(0, NAMED).map(({ what, id }) => `${what} of ${id}`)

const refusal = (message: string, hint: string) => (differences: readonly Difference[]) =>
  invalid(message, { expected: namesOf(differences) }, hint)

const notFoundNow = refusal(
  'the audit does not find these differences now',
  'Run audit-ledger again and repeat with its differences exactly as it shows them.',
)

const incomplete = refusal(
  'the audit finds more differences; a figure is repaired only together with all of them',
  'Name all differences that audit-ledger shows, or accept those that finance has explained with accept-difference.',
)

const notRepaired = refusal(
  'recount-ledger does not repair these differences; nothing was written',
  'Accept those that finance has explained with accept-difference; then repeat with the others.',
)

const isIn = (list: readonly Difference[]) => (one: Difference) => list.some((other) => isSame(one, other))

/** A figure is repaired only if the caller names all other differences too, except those that finance accepted. */
const assertComplete = async (
  deps: RecountDeps,
  { client }: RecountBy,
  expected: readonly Difference[],
  differences: readonly Difference[],
): Promise<void> => {
  const { accepted } = await readClientVerdict(deps, client.clientId)
  const more = differences.filter((now) => !isIn(expected)(now) && !accepted.some((one) => isExactly(one, now)))
  if (more.length > 0) throw incomplete(more)
}

/** Suspense belongs to the house journal, which no recount changes. */
const isHouse = ({ what }: Difference): boolean => what.startsWith('suspense')

type Plan = {
  readonly repairs: readonly Repair[]
  /** Differences of a second torn transaction of a payment that is repaired now. */
  readonly later: readonly Difference[]
}

/** Judges the differences again and plans their repairs. Throws 422 unless all of them can be repaired. */
const plan = async (deps: RecountDeps, by: RecountBy, expected: readonly Difference[]): Promise<Plan> => {
  const figures = await judgeFigures(deps, by, { withCounts: expected.some(isCount) })
  const { books } = figures
  const settlements = await judgeSettlements(deps, books, expected)
  const payments = await judgeNamed(deps, by, expected)
  const strays = await findStrays(deps, books, expected)
  const found = [
    ...[figures, ...settlements, ...payments].flatMap(({ differences }) => differences),
    ...strays.events.map(({ difference }) => difference),
  ]
  const gone = expected.filter((one) => !isHouse(one) && !isIn(found)(one))
  if (gone.length > 0) throw notFoundNow(gone)
  if (expected.some(isFigure)) await assertComplete(deps, by, expected, figures.differences)
  const wanted = <Judged extends { readonly differences: readonly Difference[] }>(judged: Judged): Judged => ({
    ...judged,
    differences: judged.differences.filter(isIn(expected)),
  })
  const leftOut = (
    await mapInChunks(settlements.map(wanted), 1, (judged) => recreditLeftOut(deps, by, { books, judged }))
  ).flat()
  const outside = leftOut.flatMap(({ entries }) => entries)
  const byLeftOut = wanted(figures).differences.filter(isOfLeftOut(outside))
  const given = { books: repairedBooks(figures) }
  const repairs = [
    ...repairFigures(deps, by, wanted(figures), outside),
    ...leftOut.map(({ repair }, at) => (at === 0 ? { ...repair, of: [...repair.of, ...byLeftOut] } : repair)),
    ...repairVerdicts(deps, by, settlements.map(wanted)),
    ...(await mapInChunks(payments.map(wanted), 1, (judged) => completePayment(deps, by, { ...given, judged }))).flat(),
    ...(await planForward(deps, by, { ...given, strays })),
  ]
  const subjects = new Set<string | undefined>(repairs.map(({ subject }) => subject))
  const open = expected.filter((one) => !isIn(repairs.flatMap(({ of }) => of))(one))
  const later = open.filter((one) => subjects.has(paymentNamedBy(one)))
  const refused = open.filter((one) => !later.includes(one))
  if (refused.length > 0) throw notRepaired(refused)
  return { repairs, later }
}

/**
 * Repairs a client's partly restored transactions (design section 13, "Torn rows"): the differences that an audit
 * showed, if they are found again. Each repair is one transaction with its audit record and keeps the sums of the
 * books. After a crash the next audit shows the rest; repeat the call. Throws 404 for an unknown client and 409 while
 * the books change. Throws 422 with the differences that are not found or not repairable; nothing is written then.
 */
export const recountLedger = async (
  deps: RecountDeps,
  asked: { readonly clientId: ClientId; readonly expected: readonly Difference[]; readonly operator: string },
): Promise<Recounted> => {
  const by = { client: await requireClient(deps, asked.clientId), operator: asked.operator }
  const { repairs, later } = await plan(deps, by, asked.expected)
  const written: Difference[] = []
  const left: Difference[] = [...later]
  let done = 0
  for (const repair of repairs) {
    const isDone = await repair.write()
    if (isDone) done++
    for (const one of repair.of) (isDone ? written : left).push(one)
  }
  if (done === 0) throw new GatewayError('conflict', 'the books changed after they were counted; try again')
  return { written, left }
}

const findEvent = async (deps: RecountDeps, { clientId }: ClientBooks, difference: Difference) => {
  const paymentId = paymentNamedBy(difference)
  if (paymentId === undefined) return []
  const name = String(difference.found)
  const stored = await storedEvent(deps, { paymentId }, name)
  const item = await deps.table.get(paymentKey(paymentId))
  const payment = parseStored(item)
  if (stored === undefined || payment?.clientId !== clientId || tellsOf(item, name)) return []
  return [{ difference, payment, ...stored }]
}

/** Finds the named entries in the journal after the last settlement. */
const findEntries = async (
  deps: RecountDeps,
  { clientId, parts, settlements, client }: ClientBooks,
  strays: readonly Difference[],
): Promise<readonly StrayEntry[]> => {
  const named = new Map(strays.map((one) => [one.id, one]))
  if (named.size === 0) return []
  const start = settlements.at(-1)?.settlement.sweptUntil ?? client.createdAt
  const span = { start, end: v.parse(TimestampSchema, END_OF_TIME) }
  const found: StrayEntry[] = []
  for await (const { entries } of entryPages(deps, { clientId, parts, span })) {
    for (const entry of entries) {
      const difference = named.get(entry.entryId)
      const paymentId = difference && paymentNamedBy(difference)
      if (difference && paymentId) found.push({ difference, paymentId, entry })
    }
  }
  return found
}

/** Reads the named events and entries that their payments do not show. */
export const findStrays = async (deps: RecountDeps, books: ClientBooks, expected: readonly Difference[]) => {
  const events = expected.filter((one) => one.what === 'event' && one.expected === STRAY_EVENT)
  const entries = expected.filter((one) => one.what === 'entry' && String(one.expected).startsWith('one of payment '))
  return {
    events: (await Promise.all(events.map((one) => findEvent(deps, books, one)))).flat(),
    entries: await findEntries(deps, books, entries),
  }
}

const OF_PAYMENT = /^(payment|event)(\.|$)/
const PAYMENT_NAMED = /\bpayment ([0-9a-f-]{36})$/

/** The payment of a difference: by the difference's id, or by the name in its expected value. */
export const paymentNamedBy = ({ what, id, expected }: Difference): PaymentId | undefined => {
  const named = OF_PAYMENT.test(what) ? id : PAYMENT_NAMED.exec(String(expected))?.[1]
  return ifValid(PaymentIdSchema, named)
}

/** The wait before the second judgement, because a payment may change while it is read. */
const SECOND_LOOK_MS = 10 * SECOND_MS

/** Judges the client's named payments twice and answers the differences found both times. */
export const judgeNamed = async (
  deps: RecountDeps,
  { client: { clientId } }: RecountBy,
  expected: readonly Difference[],
): Promise<readonly JudgedPayment[]> => {
  const ids = [...new Set(expected.flatMap((one) => paymentNamedBy(one) ?? []))]
  if (ids.length === 0) return []
  const first = await judgeById(deps, { clientId }, ids)
  await deps.sleep(SECOND_LOOK_MS)
  const second = await judgeById(deps, { clientId }, ids)
  return second
    .map((judged, at) => ({
      ...judged,
      differences: judged.differences.filter((now) => first[at]?.differences.some((one) => isSame(one, now))),
    }))
    .filter(({ payment }) => payment === undefined || payment.clientId === clientId)
}
