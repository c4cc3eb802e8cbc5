import { settlementPart } from '../audit/audit-parts.ts'
import { STRAY_EVENT, tellsOf } from '../audit/judged/audit-event.ts'
import { judgeById } from '../audit/judged/audit-payments.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
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
import { notAccepted, readClientVerdict } from '../verdict/client-verdict-store.ts'
import { confirmedDifferences, type Difference, isSame } from '../verdict/difference.ts'
import { completePayment, storedEvent } from './complete-payment.ts'
import { planForward } from './plan-forward.ts'
import {
  isFigure,
  isOfLeftOut,
  judgeFigures,
  repairedBooks,
  repairFigures,
} from './recount-figures.ts'
import { recreditLeftOut, repairVerdict } from './recount-settlements.ts'
import type { RecountDeps, StrayEntry, StrayEvent, Strays } from './repair.ts'

type Asked = {
  readonly clientId: ClientId
  readonly expected: readonly Difference[]
  readonly operator: string
}

type Recounted = { readonly written: readonly Difference[]; readonly left: readonly Difference[] }

/**
 * Repairs a client's partly restored transactions (design section 13, "Torn rows"): the differences that an audit
 * showed, if they are found again. Each repair is one transaction with its audit record. After a crash the next audit
 * shows the rest. Throws 404 for an unknown client, 409 while the books change, and 422, before anything is written,
 * with what is not repairable. `written`: the repaired differences, with the values that were found. `left`: those that
 * changed meanwhile, or belong to a payment's second transaction: audit and recount again.
 */
export async function recountLedger(deps: RecountDeps, asked: Asked): Promise<Recounted> {
  const { clientId, operator } = asked
  const { repairs, later } = await plan(deps, await requireClient(deps, clientId), asked.expected)
  const written: Difference[] = []
  const left: Difference[] = [...later]
  let done = 0
  for (const { subject, of, towards = of, steps } of repairs) {
    const record = {
      subject,
      clientId,
      operator,
      action: 'recount-ledger',
      after: { repaired: towards },
    }
    const { applied } = await recordChange(deps, record, await steps())
    if (applied) done++
    for (const one of of) (applied ? written : left).push(one)
  }
  if (done === 0)
    throw new GatewayError('conflict', 'the books changed after they were counted; try again')
  return { written, left }
}

/** Plans the repairs. Throws 422 unless all are possible. `later`: a second torn transaction of a repaired payment. */
async function plan(deps: RecountDeps, client: Client, expected: readonly Difference[]) {
  const { books, repaired, strays, wanted } = await judgeAgain(deps, client, expected)
  const settlements = books.settlements.map(({ settlement }) => settlement)
  const recredited = await mapInChunks(settlements, 1, (settlement) =>
    recreditLeftOut(deps, repaired, settlement, wanted),
  )
  const leftOut = recredited.flat()
  const outside = leftOut.flatMap(({ entries }) => entries)
  const byLeftOut = wanted.filter(isOfLeftOut(outside))
  const completed = await mapInChunks(
    [...Map.groupBy(wanted, paymentNamedBy)],
    1,
    async ([paymentId, differences]) =>
      paymentId === undefined ? [] : completePayment(deps, repaired, { paymentId, differences }),
  )
  const repairs = [
    ...repairFigures(deps, books, wanted, outside),
    ...leftOut.map((repair, at) =>
      at === 0 ? { ...repair, of: [...repair.of, ...byLeftOut] } : repair,
    ),
    ...settlements.flatMap((settlement) => repairVerdict(deps, settlement, wanted)),
    ...completed.flat(),
    ...(await planForward(deps, repaired, strays)),
  ]
  const subjects = new Set<string | undefined>(repairs.map(({ subject }) => subject))
  const open = expected.filter((one) => !isIn(repairs.flatMap(({ of }) => of))(one))
  const later = open.filter((one) => subjects.has(paymentNamedBy(one)))
  refuse(
    open.filter((one) => !later.includes(one)),
    'recount-ledger does not repair these differences; nothing was written',
    'Accept those that finance has explained with accept-difference; then repeat with the others.',
  )
  return { repairs, later }
}

/**
 * Judges the differences again. Throws 422 unless all that a recount can repair are found. A figure is repaired only if the caller names
 * all other differences too, except those that finance accepted.
 */
async function judgeAgain(deps: RecountDeps, client: Client, expected: readonly Difference[]) {
  const { books, differences } = await judgeFigures(deps, client, expected)
  const strays = await findStrays(deps, books, expected)
  const found = [
    ...differences,
    ...(await judgeNamed(deps, books, expected)),
    ...strays.events.map(({ difference }) => difference),
  ]
  // No recount changes the house journal, which has suspense, or an audit record.
  const isOfOthers = ({ what }: Difference) =>
    what.startsWith('suspense') || what === 'audit_record'
  refuse(
    expected.filter((one) => !isOfOthers(one) && !isIn(found)(one)),
    'the audit does not find these differences now',
    'Run audit-ledger again and repeat with its differences exactly as it shows them.',
  )
  if (expected.some(isFigure)) {
    const { accepted } = await readClientVerdict(deps, client.clientId)
    refuse(
      notAccepted({ accepted, standing: differences }).filter((one) => !isIn(expected)(one)),
      'the audit finds more differences; a figure is repaired only together with all of them',
      'Name all differences that audit-ledger shows, or accept those that finance has explained with accept-difference.',
    )
  }
  return {
    books,
    repaired: repairedBooks(books, differences),
    strays,
    wanted: found.filter(isIn(expected)),
  }
}

/** Reads the named events, and the named entries after the last settlement, that their payments do not show. */
async function findStrays(
  deps: RecountDeps,
  books: ClientBooks,
  expected: readonly Difference[],
): Promise<Strays> {
  const strays = expected.flatMap((difference) => {
    const paymentId = paymentNamedBy(difference)
    return paymentId ? [{ difference, paymentId }] : []
  })
  const lone = strays.filter(
    ({ difference: { what, expected: rule } }) => what === 'event' && rule === STRAY_EVENT,
  )
  const events = await Promise.all(
    lone.map(async (stray): Promise<readonly StrayEvent[]> => {
      const name = String(stray.difference.found)
      const stored = await storedEvent(deps, stray, name)
      const item = await deps.table.get(paymentKey(stray.paymentId))
      const isStray =
        stored && parseStored(item)?.clientId === books.clientId && !tellsOf(item, name)
      return isStray ? [{ ...stray, ...stored }] : []
    }),
  )
  const isEntry = ({ what, expected: rule }: Difference) =>
    what === 'entry' && String(rule).startsWith('one of payment ')
  const named = new Map(
    strays.flatMap((one) => (isEntry(one.difference) ? [[one.difference.id, one]] : [])),
  )
  const entries: StrayEntry[] = []
  for await (const page of named.size > 0 ? entryPages(deps, books.unsettled) : []) {
    for (const entry of page.entries) {
      const stray = named.get(entry.entryId)
      if (stray) entries.push({ ...stray, entry })
    }
  }
  return { events: events.flat(), entries }
}

const OF_PAYMENT = /^(payment|event)(\.|$)/
const PAYMENT_NAMED = /\bpayment ([0-9a-f-]{36})$/

/** The payment of a difference: by the difference's id, or by the name in its expected value. */
function paymentNamedBy({ what, id, expected }: Difference): PaymentId | undefined {
  const named = OF_PAYMENT.test(what) ? id : PAYMENT_NAMED.exec(String(expected))?.[1]
  return ifValid(PaymentIdSchema, named)
}

/** Run in parallel, because each waits ten seconds before its second look. */
const SIDE_BY_SIDE = 10

/** Judges the named settlements and payments of the client again, as an audit does. */
async function judgeNamed(deps: RecountDeps, books: ClientBooks, expected: readonly Difference[]) {
  const ids = new Set<string>(expected.map(({ id }) => id))
  const settlementIds = books.settlements
    .map(({ settlement }) => settlement.settlementId)
    .filter((id) => ids.has(id))
  const paymentIds = [...new Set(expected.flatMap((one) => paymentNamedBy(one) ?? []))]
  const judgePayments = async () => {
    const judged = await judgeById(deps, books, paymentIds)
    // Only the named ones, because a judgement keeps a bounded number.
    return judged.flatMap(({ payment, differences }) =>
      payment && payment.clientId !== books.clientId ? [] : differences.filter(isIn(expected)),
    )
  }
  const judges = [
    judgePayments,
    ...settlementIds.map((id) => settlementPart(deps, books, id).judge),
  ]
  const found = await mapInChunks(judges, SIDE_BY_SIDE, (judge) =>
    confirmedDifferences(deps, judge),
  )
  return found.flatMap(({ differences }) => differences)
}

function isIn(list: readonly Difference[]) {
  return (one: Difference) => list.some((other) => isSame(one, other))
}

/** Throws 422 with the names of the differences, if there are any. */
function refuse(differences: readonly Difference[], message: string, hint: string): void {
  const named = differences.slice(0, 20).map(({ what, id }) => `${what} of ${id}`)
  if (named.length > 0) throw invalid(message, { expected: named }, hint)
}
