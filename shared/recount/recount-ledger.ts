import { mapInChunks } from '../chunks.ts'
import { requireClient } from '../client/client-store.ts'
import { GatewayError, invalid } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { isExactly, readClientVerdict } from '../verdict/client-verdict-store.ts'
import { type Difference, isSame } from '../verdict/difference.ts'
import { completePayment } from './complete-payment.ts'
import { planForward } from './plan-forward.ts'
import { isCount, isFigure, isOfLeftOut, judgeFigures, repairedBooks, repairFigures } from './recount-figures.ts'
import { judgeSettlements, recreditLeftOut, repairVerdicts } from './recount-settlements.ts'
import type { RecountBy, RecountDeps, Repair } from './repair.ts'
import { findStrays, judgeNamed, paymentNamedBy } from './strays.ts'

type Recounted = {
  /** The repaired differences, with the values that were found. */
  readonly written: readonly Difference[]
  /** Differences that changed meanwhile, or belong to a payment's second transaction: audit and recount again. */
  readonly left: readonly Difference[]
}

const NAMED = 20

const named = (differences: readonly Difference[]): readonly string[] =>
  differences.slice(0, NAMED).map(({ what, id }) => `${what} of ${id}`)

const refusal = (message: string, hint: string) => (differences: readonly Difference[]) =>
  invalid(message, { expected: named(differences) }, hint)

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
  'The runbook explains each. Accept those that finance has explained with accept-difference; then repeat with the others.',
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
  {
    clientId,
    expected,
    operator,
  }: { readonly clientId: ClientId; readonly expected: readonly Difference[]; readonly operator: string },
): Promise<Recounted> => {
  const by = { client: await requireClient(deps, clientId), operator }
  const { repairs, later } = await plan(deps, by, expected)
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
