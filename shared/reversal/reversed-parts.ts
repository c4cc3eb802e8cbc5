import type { StoreDeps } from '../deps.ts'
import type { Payment } from '../payment/payment.ts'
import type { Suspense } from '../suspense/suspense.ts'
import {
  closeReinstated,
  findAllSuspense,
  findSuspense,
  leaveOut,
  reopenLeftOut,
  undoneThoughClosed,
} from '../suspense/suspense-store.ts'
import type { Step } from '../table/step.ts'
import type { Steps } from '../table/table.ts'

/** A payment is refunded in a few parts; beyond these an operator writes off what is owed for them. */
const MOST_PARTS = 80

/** Under which id a part that went back by a transaction is owed. */
export const partOwedId = (transactionId: string): string => `${transactionId}#reversed_in_part`

const partsOf = (deps: StoreDeps, { reversalIds }: Payment): Promise<readonly Suspense[]> =>
  findAllSuspense(deps, [...(reversalIds ?? [])].slice(0, MOST_PARTS).map(partOwedId))

/** A payment goes back whole, comes again and goes back whole once more as often as people dispute it. */
const MOST_TOLD = 20

/** What was told of a part that an operator had closed before all of its payment went back: the first and the last. */
const toldOf = async (deps: StoreDeps, part: Suspense) => {
  let last: Suspense | undefined
  for (let number = 1; number < MOST_TOLD; number++) {
    const told = await findSuspense(deps, `${part.suspenseId}#left_out_though_closed${number > 1 ? `#${number}` : ''}`)
    if (told === undefined) return { last, number }
    last = told
  }
  return { last, number: MOST_TOLD }
}

const stepsOf = async (
  parts: readonly Suspense[],
  stepOf: (part: Suspense) => Promise<Step | undefined>,
): Promise<Steps<string>> =>
  Object.fromEntries(await Promise.all(parts.map(async (part) => [part.suspenseId, await stepOf(part)] as const)))

/** What is owed for parts is owed no longer once all of the payment goes back: that, or nothing, is owed then. */
export const closeParts = async (deps: StoreDeps, payment: Payment, by: string): Promise<Steps<string>> =>
  stepsOf(await partsOf(deps, payment), async (part) => {
    if (part.status === 'open') return leaveOut(part, by, deps.now())
    const { number } = await toldOf(deps, part)
    return leaveOut(part, by, deps.now(), number)
  })

/**
 * When all of the payment comes again, its parts are owed as before. Of one that an operator had closed, what was told of it
 * is closed where nobody has acted on it; where somebody has, a person must look.
 */
export const owePartsAgain = async (
  deps: StoreDeps,
  payment: Payment,
  { whole, by }: { readonly whole: string; readonly by: string },
): Promise<Steps<string>> =>
  stepsOf(await partsOf(deps, payment), async (part) => {
    if (part.leftOutBy === whole) return reopenLeftOut(part, whole, deps.now())
    const { last } = await toldOf(deps, part)
    if (last === undefined) return undefined
    return last.status === 'open' ? closeReinstated(last, by) : undoneThoughClosed(part, by, deps.now())
  })
