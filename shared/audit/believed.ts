import type { Deps } from '../deps.ts'
import { SECOND_MS } from '../time.ts'
import { type Difference, isSame, MAX_DIFFERENCES } from '../verdict/difference.ts'

/** How long live traffic and the indexes have to settle before a difference is believed. */
const LOOK_AGAIN_MS = 10 * SECOND_MS
/** A difference that is never seen twice alike is traffic: the answer is inconclusive. */
const LOOKS = 3

/** The result of one look; `moving`: something was found, and its data has changed during the read. */
export type Look = readonly Difference[] | 'moving'

type Believed = {
  /** Seen twice alike. */
  readonly differences: readonly Difference[]
  /** Differences were seen, but none of them twice alike. */
  readonly isInconclusive: boolean
}

/**
 * Finds the differences of a part of the books that may change during the read. A difference counts only if the part
 * stood still, and if it appears again ten seconds later, the same or with the same gap between its figures (design
 * section 4, "Audit"). Inconclusive when it is found and there is no time to look again.
 */
export const believed = async (
  deps: Pick<Deps, 'sleep'>,
  judge: (isAgain: boolean) => Promise<Look>,
  hasTime = () => true,
): Promise<Believed> => {
  const seen: Difference[] = []
  for (let look = 1; look <= LOOKS; look++) {
    if (look > 1) {
      if (!hasTime()) break
      await deps.sleep(LOOK_AGAIN_MS)
    }
    const found = await judge(look > 1)
    if (found === 'moving') continue
    if (found.length === 0) return { differences: [], isInconclusive: false }
    const lasting = found.filter((difference) => seen.some((before) => isSame(before, difference)))
    if (lasting.length > 0) return { differences: lasting.slice(0, MAX_DIFFERENCES), isInconclusive: false }
    seen.push(...found.slice(0, MAX_DIFFERENCES))
  }
  return { differences: [], isInconclusive: true }
}
