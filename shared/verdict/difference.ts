import * as v from 'valibot'
import type { Deps } from '../deps.ts'
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
export type Difference = Readonly<v.InferOutput<typeof DifferenceSchema>>

/** The most differences of an answer within a Lambda's limit. */
export const MAX_DIFFERENCES = 1_000

/** What an operator is told of a whole audit. */
export function auditAnswer(differences: readonly Difference[], isInconclusive: boolean) {
  const balanced =
    differences.length > 0 ? false : isInconclusive ? ('inconclusive' as const) : true
  return { balanced, differences: differences.slice(0, MAX_DIFFERENCES) }
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
    : [{ what, id, expected: expected ?? null, found: found ?? null }]
}

/** Found by the gateway's audit. Without a client it stands on the gateway. */
export type HouseDifference = Difference & { readonly clientId: string | undefined }

export function withClient(
  clientId: string | undefined,
  differences: readonly Difference[],
): readonly HouseDifference[] {
  return differences.map((difference) => ({ ...difference, clientId }))
}

/** For a rule without an exact value: `expected` of the difference states the rule in words. */
export function onlyIf(
  isBroken: boolean,
  difference: readonly Difference[],
): readonly Difference[] {
  return isBroken ? difference : []
}

/** Compares attributes of one item. */
export function compareAll(
  kind: string,
  id: string,
  attributes: readonly (readonly [name: string, expected: Value, found: Value])[],
): readonly Difference[] {
  return attributes.flatMap(([name, expected, found]) =>
    compare(`${kind}.${name}`, id, expected, found),
  )
}

/** A raw attribute as a difference shows it. */
export function toValue(value: unknown): Value {
  if (value === undefined || typeof value === 'string' || typeof value === 'number') return value
  return JSON.stringify(value) ?? 'unreadable'
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

/** The wait before a second check, in which concurrent writes end and the indexes catch up. */
const CHECK_AGAIN_MS = 10 * SECOND_MS
/**
 * After so many checks without a repeated difference the answer is inconclusive, because writes
 * continue.
 */
const MAX_TRIES = 3

/**
 * The result of one check. `unstable`: it found differences, but their data changed during the
 * read.
 */
export type JudgeResult<Found = Difference> = readonly Found[] | 'unstable'

export type Confirmed<Found = Difference> = {
  /** Found by two checks. */
  readonly differences: readonly Found[]
  /** Checks found differences, but no difference was found twice. */
  readonly isInconclusive: boolean
}

/**
 * Finds the differences of a part of the books that may change during the read. Only a difference
 * that a check ten seconds later finds again counts; its figures may change, their gap may not.
 * Inconclusive without time for that check.
 */
export async function confirmedDifferences<Found extends Difference>(
  deps: Pick<Deps, 'sleep'>,
  judge: (isAgain: boolean) => Promise<JudgeResult<Found>>,
  hasTime = () => true,
): Promise<Confirmed<Found>> {
  const candidates: Difference[] = []
  for (let tried = 1; tried <= MAX_TRIES; tried++) {
    if (tried > 1) {
      if (!hasTime()) break
      await deps.sleep(CHECK_AGAIN_MS)
    }
    const found = await judge(tried > 1)
    if (found === 'unstable') continue
    if (found.length === 0) return { differences: [], isInconclusive: false }
    const repeated = found.filter((difference) =>
      candidates.some((before) => isSame(before, difference)),
    )
    if (repeated.length > 0)
      return { differences: repeated.slice(0, MAX_DIFFERENCES), isInconclusive: false }
    candidates.push(...found.slice(0, MAX_DIFFERENCES))
  }
  return { differences: [], isInconclusive: true }
}
