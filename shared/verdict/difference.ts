import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { sha256Hex } from '../ids.ts'
import { textOf } from '../table/text-of.ts'
import { hasHiddenCharacter } from '../text-field.ts'
import { SECOND_MS } from '../time.ts'

type Value = string | number | null | undefined

const Figure = v.nullable(v.union([v.string(), v.number()]))

/** One place where the books are not as they must be (design section 7). */
export const DifferenceSchema = v.object({
  /** Kind of item and its attribute, as in the table: `payment.net_minor`. */
  what: v.string(),
  /** The id of a payment (also for its event), a settlement, a shard's number, or `window`. */
  id: v.string(),
  expected: Figure,
  found: Figure,
})
export type Difference = Readonly<v.InferOutput<typeof DifferenceSchema>> & {
  /** Found by the gateway's audit: without a client it stands on the gateway. */
  readonly clientId?: string | undefined
}

/** The most differences of an answer within a Lambda's limit. */
export const MAX_DIFFERENCES = 1_000

/** What an operator is told of an audit. `next`: the part with which another call goes on. */
export function auditAnswer(
  differences: readonly Difference[],
  next: string | undefined,
  unread?: string,
) {
  const all = distinct(differences)
  const balanced = all.length > 0 ? false : (unread ?? next) ? ('inconclusive' as const) : true
  return {
    balanced,
    differences: all.slice(0, MAX_DIFFERENCES),
    ...tellMore(all),
    ...(unread !== undefined && { unread }),
    ...(next !== undefined && { next }),
  }
}

/** Each part of an audit keeps at most so many too, so its other differences are unknown. */
export function tellMore({ length }: readonly Difference[]): { readonly more?: string } {
  return length >= MAX_DIFFERENCES ? { more: MORE } : {}
}

const MORE = 'there may be more differences: repair or accept these, then repeat the call'

export function distinct<Found extends Difference>(all: readonly Found[]): readonly Found[] {
  const seen = new Map(
    all.map((one) => [[one.what, one.id, one.expected, one.found].join('\n'), one]),
  )
  return [...seen.values()]
}

/** None when both values are the same; undefined counts as null. */
export function compare(
  what: string,
  id: string,
  expected: Value,
  found: Value,
): readonly Difference[] {
  return (expected ?? null) === (found ?? null)
    ? []
    : [{ what, id, expected: storable(expected), found: storable(found) }]
}

export function missingRow(kind: string, id: string) {
  return compare(kind, id, 'present', 'missing')
}

export function unreadableRow(kind: string, id: string) {
  return compare(kind, id, 'readable', 'unreadable')
}

/** The table takes no number that may have lost digits. */
function storable(value: Value) {
  return typeof value === 'number' && !Number.isSafeInteger(value) ? String(value) : (value ?? null)
}

export function withClient(
  clientId: string | undefined,
  differences: readonly Difference[],
): readonly Difference[] {
  return differences.map((difference) => ({ ...difference, clientId }))
}

/** Only what a verdict keeps, and an operator is told. */
export function withoutClient({ what, id, expected, found }: Difference) {
  return { what, id, expected, found }
}

/** For a rule without an exact value: `expected` of the difference states the rule in words. */
export function onlyIf(
  isBroken: boolean,
  difference: readonly Difference[],
): readonly Difference[] {
  return isBroken ? difference : []
}

type Rule = readonly [name: string, holds: boolean, rule: string, found: Value]

/** What attributes of one item must be like. */
export function brokenRules(
  kind: string,
  id: string,
  rules: readonly Rule[],
): readonly Difference[] {
  return rules.flatMap(([name, holds, rule, found]) =>
    onlyIf(!holds, compare(`${kind}.${name}`, id, rule, found)),
  )
}

/** A difference is stored, and approved in a payload of limited length. */
const MAX_SHOWN = 200

/** A raw attribute as a difference shows it: its digest, if it is long or no input may have it. */
export function toValue(value: unknown): Value {
  if (value === undefined || typeof value === 'number') return value
  const text = typeof value === 'string' ? value : textOf(value)
  return text.length <= MAX_SHOWN && !hasHiddenCharacter(text) ? text : shownDigest(text)
}

export function shownDigest(text: string): string {
  return `sha256 ${sha256Hex(text)}`
}

/**
 * Whether two checks found the same difference. Concurrent writes may have changed both figures,
 * but not the gap between them.
 */
export function isSame(a: Difference, b: Difference): boolean {
  if (a.what !== b.what || a.id !== b.id) return false
  const gapOfA = gapOf(a)
  return gapOfA === undefined
    ? a.expected === b.expected && a.found === b.found
    : gapOfA === gapOf(b)
}

function gapOf({ expected, found }: Difference) {
  return typeof expected === 'number' && typeof found === 'number' ? found - expected : undefined
}

export function isIdentical(a: Difference, b: Difference): boolean {
  return a.what === b.what && a.id === b.id && a.expected === b.expected && a.found === b.found
}

/** Undefined when altered values make `make` throw. */
export function tryToMake<Made>(make: () => Made): Made | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** A difference of a name that no row of this release has, because a later release wrote it. */
export function unknownName(kind: string, name: string): Difference {
  return { what: `${kind}.${name}`, id: kind, expected: UNKNOWN_NAME, found: null }
}

const UNKNOWN_NAME = 'a name of this release'

export function isUnknownName({ expected }: Difference): boolean {
  return expected === UNKNOWN_NAME
}

/**
 * A difference that no payout waits for: the number of payments in a status is no money, and the
 * audit that finds a wrong verdict has written it again.
 */
export function mayBePaid(difference: Difference): boolean {
  return isUnknownName(difference) || /^(ledger\.count_|verdict(\.|$))/.test(difference.what)
}

/** Names of a later release, which many rows have, hide no difference that payouts wait for. */
export function foremost<Found extends Difference>(all: readonly Found[], most = MAX_DIFFERENCES) {
  return all.toSorted((a, b) => Number(mayBePaid(a)) - Number(mayBePaid(b))).slice(0, most)
}

/** The wait before a second check, in which concurrent writes end and the indexes catch up. */
const CHECK_AGAIN_MS = 10 * SECOND_MS
const MAX_CHECKS = 3

/**
 * Finds the differences of rows that may change during the read. A difference counts when a check
 * ten seconds later finds it again, with the same gap. A third check counts with another gap too,
 * because a busy client's figures are known within bounds.
 */
export async function confirmedDifferences(
  deps: Pick<Deps, 'sleep'>,
  judge: (isAgain: boolean) => Promise<readonly Difference[]>,
): Promise<readonly Difference[]> {
  const earlier: Difference[] = []
  for (let check = 1; ; check++) {
    const found = foremost(await judge(check > 1))
    const named = found.filter(({ what, id }) =>
      earlier.some((before) => before.what === what && before.id === id),
    )
    const isSteady =
      named.length > 0 && named.every((one) => earlier.some((before) => isSame(before, one)))
    if (found.length === 0 || isSteady || check === MAX_CHECKS) return named
    earlier.push(...found)
    await deps.sleep(CHECK_AGAIN_MS)
  }
}
