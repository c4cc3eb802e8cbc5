import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { bookDay } from '../journal/day-totals.ts'
import { entryPages } from '../journal/read-entries.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import { finding, recordSuspense, type SuspenseDeps } from '../suspense/record-suspense.ts'
import { isInPeriod } from './book-period.ts'
import { paidDayOf } from './client-book.ts'
import { entrySpan, isLine } from './statement-lines.ts'
import { type StatementTotals, statementTotals } from './statement-totals.ts'

export type RefuseDeps = SuspenseDeps & Pick<Deps, 'stage'>

type Refused = { readonly clientId: ClientId; readonly from: string; readonly day: string }

/** An alert that fails is repeated by due work, and a second request finds the finding there. */
export async function refuseStatement(
  deps: RefuseDeps,
  { clientId, day }: Pick<Refused, 'clientId' | 'day'>,
): Promise<never> {
  const subject = `${clientId}#${day}`
  const payment = { paymentId: undefined, clientId }
  const now = deps.now()
  await recordSuspense(deps, finding({ subject, cause: 'statement_differs', payment, now }))
  throw new GatewayError(
    'internal_error',
    `the statement up to ${day} does not add up, so it is not shown; the operators were told`,
    { actionHint: 'Ask support about it, with the request id. Earlier days may be complete.' },
  )
}

/**
 * The lines up to a final day do not add up to the stored totals. Everything is read again, because
 * a caller can write a cursor, and an entry may become visible after its transaction. If it still
 * does not add up: a finding with its alert, once for a client and day, then 500. False: it adds up
 * now.
 */
export async function refuseIfUnequal(deps: RefuseDeps, refused: Refused): Promise<false> {
  const { clientId, from, day: to } = refused
  const totals = await statementTotals(deps, clientId, { from, to })
  const linesMinor = await sumOfLines(deps, refused, totals)
  const closingMinor = linesMinor && plus(totals.openingMinor, linesMinor)
  if (totals.isSound && totals.checked?.day === to && totals.checked.minor === closingMinor)
    return false
  return refuseStatement(deps, refused)
}

/** Some seconds of reading. */
const MAX_PAGES = 20
const ROWS = 1_000

/** Undefined if the lines are too many for one request. */
async function sumOfLines(
  deps: RefuseDeps,
  { clientId, from, day: to }: Refused,
  { payouts }: StatementTotals,
): Promise<Minor | undefined> {
  let sum = payouts
    .filter((settlement) => (paidDayOf(settlement) ?? '') <= to)
    .reduce((total, { netMinor }) => less(total, netMinor), ZERO)
  let pages = 0
  const journal = { clientId, span: entrySpan(from, to), limit: ROWS }
  for await (const { entries, more } of entryPages(deps, journal)) {
    for (const entry of entries)
      if (isLine(entry) && isInPeriod({ from, to }, bookDay(entry.postedAt)))
        sum = plus(sum, entry.netMinor)
    if (more && ++pages === MAX_PAGES) return undefined
  }
  return sum
}
