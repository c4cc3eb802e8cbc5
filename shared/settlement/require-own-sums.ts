import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { parseEntry } from '../journal/entry-store.ts'
import { attributeName, type Item } from '../table/attributes.ts'
import { addMs, END_OF_TIME } from '../time.ts'
import { unacceptedDifferences, withSince } from '../verdict/acceptances.ts'
import { compare, mayBePaid, onlyIf, toValue, tryToMake } from '../verdict/difference.ts'
import { readVerdict, type Verdict } from '../verdict/verdict-store.ts'
import { hasLongWindow, requireAudited } from './long-settlement.ts'
import { ELIGIBLE_AGE_MS, type Settlement } from './settlement.ts'
import { settlementsEnding } from './settlement-store.ts'
import { addBlock, emptySums, SUM_FIGURES, sumPages } from './sum-entries.ts'

type OwnSumDeps = Pick<Deps, 'table' | 'stage' | 'now'>

/**
 * Throws 422 unless the sums of a settlement are those of its entries, and its window has no part
 * of another window: its net becomes its client's money again. A difference that finance has
 * accepted refuses nothing, as in the payout gate.
 */
export async function requireOwnSums(deps: OwnSumDeps, settlement: Settlement) {
  const { clientId } = settlement
  const verdict = await readVerdict(deps, clientId)
  const found = [
    ...(await sumDifferences(deps, settlement, verdict)),
    ...(await overlapDifferences(deps, settlement)),
  ]
  const dated = withSince(found, verdict.standing, deps.now())
  const open = await unacceptedDifferences(deps, clientId, dated)
  if (open.length === 0) return
  throw invalid(
    'the sums of this settlement are not those of its entries',
    { differences: open.map(({ what, id }) => `${what} of ${id}`) },
    `audit-ledger --client_id ${clientId} lists the differences with their figures. ` +
      'recount-ledger repairs what it can, and accept-difference accepts what is left.',
  )
}

/**
 * As an audit finds them. Only audits sum a long settlement: of a paid one before its payout, and
 * the verdict keeps what the last ones have proven.
 */
async function sumDifferences(deps: OwnSumDeps, settlement: Settlement, verdict: Verdict) {
  const { clientId, settlementId, sweptFrom, sweptUntil, status } = settlement
  if (await hasLongWindow(deps, settlement)) {
    const { standing, longSettlements } = verdict
    const found = standing.filter((one) => one.part.endsWith(settlementId) && !mayBePaid(one))
    const isProven = found.length === 0 && longSettlements[settlementId] !== undefined
    if (status === 'failed' || isProven) requireAudited(deps, settlement, verdict)
    return found
  }
  const span = { start: sweptFrom, end: sweptUntil }
  // An entry that cannot be read is missing in the sums.
  const read = (item: Item) => tryToMake(() => parseEntry(item))
  const start = { sums: emptySums(settlementId), remaining: [] }
  const { sums, remaining } = await sumPages(deps, { clientId, span, read }, start)
  const own = addBlock(sums, remaining, sweptFrom)
  return SUM_FIGURES.flatMap((figure) =>
    compare(
      `settlement.${attributeName(figure)}`,
      settlementId,
      toValue(own[figure]),
      toValue(settlement[figure]),
    ),
  )
}

/** The entries of both windows would be paid out twice. */
async function overlapDifferences(deps: OwnSumDeps, settlement: Settlement) {
  const { clientId, settlementId, sweptFrom } = settlement
  const { settlements } = await settlementsEnding(deps, clientId, [
    addMs(sweptFrom, 1 - ELIGIBLE_AGE_MS),
    END_OF_TIME,
  ])
  const ordered = [
    ...settlements.filter((one) => one.settlementId !== settlementId),
    settlement,
  ].toSorted((a, b) => (a.sweptFrom < b.sweptFrom ? -1 : 1))
  return ordered.flatMap((one, at) => {
    const previous = ordered[at - 1]
    const isOwn = [one, previous].some((each) => each?.settlementId === settlementId)
    return previous && isOwn
      ? onlyIf(
          one.sweptFrom < previous.sweptUntil,
          compare('settlement.swept_from', one.settlementId, previous.sweptUntil, one.sweptFrom),
        )
      : []
  })
}
