import { judgeSettlement } from '../audit/judged/audit-settlement.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { hasEvent, STRAY_EVENT } from '../audit/judged/judge-events.ts'
import { judgeById } from '../audit/judged/judge-payments.ts'
import { mapInChunks } from '../chunks.ts'
import type { Client } from '../client/client.ts'
import { requireClient } from '../client/client-store.ts'
import { GatewayError, invalid } from '../errors.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { entryPages } from '../journal/read-entries.ts'
import { recordChange } from '../operator/audit-record-store.ts'
import { parseStored } from '../payment/payment-store.ts'
import { paymentKey } from '../table/keys.ts'
import { unacceptedDifferences, withSince } from '../verdict/acceptances.ts'
import { readClientVerdict } from '../verdict/client-verdict-store.ts'
import { confirmedDifferences, type Difference, isSame } from '../verdict/difference.ts'
import { completePayment, findStoredEvent } from './complete-payment.ts'
import { correctSettlement } from './correct-settlement.ts'
import { planForward } from './plan-forward.ts'
import {
  isCausedBy,
  isFigure,
  judgeFigures,
  repairedBooks,
  repairFigures,
} from './recount-figures.ts'
import type { RecountDeps, StrayEntry, StrayEvent, Strays } from './repair.ts'
import { repairSuspense } from './repair-suspense.ts'

type RecountInput = {
  readonly clientId: ClientId
  readonly expected: readonly Difference[]
  readonly operator: string
}

type Recounted = { readonly written: readonly Difference[]; readonly left: readonly Difference[] }

/**
 * Repairs a client's partly restored transactions (design section 13, "Torn rows"): the differences
 * that an audit showed, if they are found again. Each repair is one transaction with its audit
 * record. After a crash the next audit shows the remaining differences. Throws 404 for an unknown
 * client, 409 while the books change, and 422, before anything is written, with the differences
 * that are not repairable. `written`: the repaired differences, with the values that were found.
 * `left`: the differences that changed meanwhile, or that belong to a payment's second transaction:
 * audit and recount again.
 */
export async function recountLedger(deps: RecountDeps, input: RecountInput): Promise<Recounted> {
  const { clientId, operator } = input
  const { repairs, remainder } = await planRepairs(
    deps,
    await requireClient(deps, clientId),
    input.expected,
  )
  const written: Difference[] = []
  const remaining: Difference[] = [...remainder]
  let appliedCount = 0
  for (const { subject, targets, recordedTargets = targets, steps } of repairs) {
    const record = {
      subject,
      clientId,
      operator,
      action: 'recount-ledger',
      after: { repaired: recordedTargets },
    }
    const { applied } = await recordChange(deps, record, await steps())
    if (applied) appliedCount++
    const list = applied ? written : remaining
    list.push(...targets)
  }
  if (appliedCount === 0)
    throw new GatewayError('conflict', 'the books changed after they were counted; try again')
  return { written, left: remaining }
}

/**
 * Throws 422 unless all repairs are possible. `remainder`: of a repaired payment's second torn
 * transaction.
 */
async function planRepairs(deps: RecountDeps, client: Client, expected: readonly Difference[]) {
  const { books, repaired, strays, targets } = await judgeAgain(deps, client, expected)
  const corrected = await mapInChunks(books.settlements, 1, (row) =>
    correctSettlement(deps, repaired, row, targets),
  )
  const corrections = corrected.flat()
  const taken = corrections.map((repair) => repair.taken)
  const causedTargets = targets.filter(isCausedBy(taken))
  const completed = await mapInChunks(
    [...Map.groupBy(targets, paymentNamedBy)],
    1,
    async ([paymentId, differences]) =>
      paymentId === undefined ? [] : completePayment(deps, repaired, { paymentId, differences }),
  )
  const repairs = [
    ...repairFigures(deps, books, targets, taken),
    ...corrections.map((repair, at) =>
      at === 0 ? { ...repair, targets: [...repair.targets, ...causedTargets] } : repair,
    ),
    ...completed.flat(),
    // Before the payments, whose repair may write the same item with another time.
    ...(await repairSuspense(deps, client.clientId, expected)),
    ...(await planForward(deps, repaired, strays)),
  ]
  const subjects = new Set<string | undefined>(repairs.map(({ subject }) => subject))
  const unplanned = expected.filter(
    (difference) => !isAmong(repairs.flatMap((repair) => repair.targets))(difference),
  )
  const remainder = unplanned.filter((difference) => subjects.has(paymentNamedBy(difference)))
  refuse(
    unplanned.filter((difference) => !remainder.includes(difference)),
    'recount-ledger does not repair these differences; nothing was written',
    'Accept those that finance has explained with accept-difference; then repeat with the others.',
  )
  return { repairs, remainder }
}

/** Throws 422 unless all that a recount can repair are found again. */
async function judgeAgain(deps: RecountDeps, client: Client, expected: readonly Difference[]) {
  const { books, differences } = await judgeFigures(deps, client, expected)
  const strays = await findStrays(deps, books, expected)
  const found = [
    ...differences,
    ...(await judgeNamed(deps, books, expected)),
    ...strays.events.map(({ difference }) => difference),
  ]
  // No recount changes the house journal or an audit record. Suspense has repairs of its own.
  const isNeverRepaired = ({ what }: Difference) =>
    what.startsWith('suspense') || what === 'noted' || what === 'audit_record'
  refuse(
    expected.filter((difference) => !isNeverRepaired(difference) && !isAmong(found)(difference)),
    'the audit does not find these differences now',
    'Run audit-ledger again and repeat with its differences exactly as it shows them.',
  )
  if (expected.some(isFigure)) {
    const { standing } = await readClientVerdict(deps, client.clientId)
    const dated = withSince(differences, standing, deps.now())
    const open = await unacceptedDifferences(deps, client.clientId, dated)
    refuse(
      open.filter((difference) => !isAmong(expected)(difference)),
      'the audit finds more differences; a figure is repaired only together with all of them',
      'Name all differences that audit-ledger shows, or accept those that finance has ' +
        'explained with accept-difference.',
    )
  }
  return {
    books,
    repaired: repairedBooks(books, differences),
    strays,
    targets: found.filter(isAmong(expected)),
  }
}

/**
 * Reads the named events, and the named entries after the last settlement, that their payments do
 * not show.
 */
async function findStrays(
  deps: RecountDeps,
  books: ClientBooks,
  expected: readonly Difference[],
): Promise<Strays> {
  const strays = expected.flatMap((difference) => {
    const paymentId = paymentNamedBy(difference)
    return paymentId ? [{ difference, paymentId }] : []
  })
  const eventStrays = strays.filter(
    ({ difference: { what, expected: rule } }) => what === 'event' && rule === STRAY_EVENT,
  )
  const events = await Promise.all(
    eventStrays.map(async (stray): Promise<readonly StrayEvent[]> => {
      const name = String(stray.difference.found)
      const stored = await findStoredEvent(deps, stray, name)
      const item = await deps.table.get(paymentKey(stray.paymentId))
      const isStray =
        stored && parseStored(item)?.clientId === books.clientId && !hasEvent(item, name)
      return isStray ? [{ ...stray, ...stored }] : []
    }),
  )
  const isEntry = ({ what, expected: rule }: Difference) =>
    what === 'entry' && String(rule).startsWith('one of payment ')
  const namedEntries = new Map(
    strays.flatMap((stray) => (isEntry(stray.difference) ? [[stray.difference.id, stray]] : [])),
  )
  const entries: StrayEntry[] = []
  for await (const page of namedEntries.size > 0 ? entryPages(deps, books.unsettled) : []) {
    for (const entry of page.entries) {
      const stray = namedEntries.get(entry.entryId)
      if (stray) entries.push({ ...stray, entry })
    }
  }
  return { events: events.flat(), entries }
}

const OF_PAYMENT = /^(payment|event)(\.|$)/
const PAYMENT_NAMED = /\bpayment ([0-9a-f-]{36})$/

/** The payment of a difference: by the difference's id, or by the id in its expected value. */
function paymentNamedBy({ what, id, expected }: Difference): PaymentId | undefined {
  const named = OF_PAYMENT.test(what) ? id : PAYMENT_NAMED.exec(String(expected))?.[1]
  return ifValid(PaymentIdSchema, named)
}

/** Judgements at the same time, because each waits ten seconds before its second check. */
const SIDE_BY_SIDE = 10

/** Judges the named settlements and payments of the client again, as an audit does. */
async function judgeNamed(deps: RecountDeps, books: ClientBooks, expected: readonly Difference[]) {
  const ids = new Set<string>(expected.map(({ id }) => id))
  const paymentIds = [
    ...new Set(expected.flatMap((difference) => paymentNamedBy(difference) ?? [])),
  ]
  const judgePayments = async () => {
    const judged = await judgeById(deps, books, paymentIds)
    // Only the named differences, because a judgement keeps a bounded number.
    return judged.flatMap(({ payment, differences }) =>
      payment && payment.clientId !== books.clientId ? [] : differences.filter(isAmong(expected)),
    )
  }
  const judges = [
    judgePayments,
    ...books.settlements
      .filter(({ settlement }) => ids.has(settlement.settlementId))
      .map((stored) => async () => (await judgeSettlement(deps, books, stored)).differences),
  ]
  const found = await mapInChunks(judges, SIDE_BY_SIDE, (judge) =>
    confirmedDifferences(deps, judge),
  )
  return found.flat()
}

function isAmong(list: readonly Difference[]) {
  return (difference: Difference) => list.some((listed) => isSame(difference, listed))
}

function refuse(differences: readonly Difference[], message: string, hint: string): void {
  const named = differences.slice(0, 20).map(({ what, id }) => `${what} of ${id}`)
  if (named.length > 0) throw invalid(message, { expected: named }, hint)
}
