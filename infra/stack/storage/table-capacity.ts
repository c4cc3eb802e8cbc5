import type { DeployedStage } from '../stage.ts'
import { throttleOf } from '../triggers/route-settings.ts'

/** Where payments come in. */
export const CREATE_ROUTE = 'POST /v1/payments'

/** Units a second that DynamoDB gives a new on-demand table, and each of its indexes. It doubles what was reached before. */
const FRESH = { reads: 12_000, writes: 4_000 } as const

/**
 * Of one payment, from created to settled, with one endpoint: docs/operations.md, section 9, rounded up. A test holds
 * them to what is measured. `created`: in the second in which it is created.
 */
export const PAYMENT_UNITS = { reads: 14, writes: 45, created: { reads: 3, writes: 12 } } as const

type Units = { readonly reads: number; readonly writes: number }

/** What the stage's table carries from its first minute on. */
export const carriedUnits = ({
  table: { maxReadUnits, maxWriteUnits, warm },
}: Pick<DeployedStage, 'table'>): Units => ({
  reads: Math.min(maxReadUnits, Math.max(FRESH.reads, warm?.readUnits ?? 0)),
  writes: Math.min(maxWriteUnits, Math.max(FRESH.writes, warm?.writeUnits ?? 0)),
})

/**
 * Throws on a stage whose API lets in more payments than its table carries: what is too much must be refused by API
 * Gateway (429, nothing begun) and not by DynamoDB (500, half done). What comes after a payment is paced by its creation:
 * money is credited once for each, and deliveries wait in their queue.
 */
export const assertCarried = (stage: DeployedStage): void => {
  const { requestsPerSecond, burst } = throttleOf(stage, CREATE_ROUTE)
  const carried = carriedUnits(stage)
  const asked: readonly (readonly [string, number, number])[] = [
    [`${requestsPerSecond} a second write`, requestsPerSecond * PAYMENT_UNITS.writes, carried.writes],
    [`${requestsPerSecond} a second read`, requestsPerSecond * PAYMENT_UNITS.reads, carried.reads],
    [`a burst of ${burst} writes`, burst * PAYMENT_UNITS.created.writes, carried.writes],
    [`a burst of ${burst} reads`, burst * PAYMENT_UNITS.created.reads, carried.reads],
  ]
  for (const [what, units, carries] of asked) {
    if (units > carries) {
      throw new Error(
        `stage ${stage.settings.name}: of payments, ${what} ${units} units and the table carries ${carries}: lower the throttle, or raise table.warm and its most units`,
      )
    }
  }
}
