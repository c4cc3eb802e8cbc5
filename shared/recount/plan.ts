import type { AuditDeps } from '../audit/due-parts.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import type { Deps } from '../deps.ts'
import type { Entry } from '../journal/entry.ts'
import type { RecordDeps } from '../operator/audit-record-store.ts'
import type { Steps } from '../table/table.ts'
import type { Difference } from '../verdict/difference.ts'

export type RecountDeps = AuditDeps & RecordDeps & Pick<Deps, 'provider' | 'log'>

/**
 * Writes in their order, what is left, and differences that end with writes of another part of the
 * plan.
 */
export type Plan = readonly Planned[]
type Planned = Write | Left | Ending

type Ending = {
  /** The audit's differences that it ends or names. */
  readonly ends: readonly Difference[]
}

/** One transaction of a plan (design section 13, "Torn rows"). */
export type Write = Ending & {
  /** What it repairs; its audit record is in this subject's chain. */
  readonly subject: string
  readonly clientId: string | undefined
  /**
   * `put`: what a present source derives; `figures`: as their sources determine them; `up`: a
   * source that shows less than its rows; `trail`: as the operators' records or their effects say.
   */
  readonly repair: 'put' | 'figures' | 'up' | 'trail'
  /** What it changes: the value afterwards, and the value that was found. */
  readonly lines: readonly Difference[]
  /** A lost record of an operator, written anew. Without it the record is one of the recount. */
  readonly record?: LostRecord | undefined
  readonly entries?: readonly Entry[]
  readonly steps: Steps<string>
}

export type LostRecord = {
  readonly action: string
  readonly after: object
  readonly key?: { readonly at: ClientBooks['client']['createdAt']; readonly id: string }
}

/** What this plan cannot repair now, though a later plan may. */
export type Left = Ending & { readonly id: string; readonly why: string }

export function writesOf(plan: Plan): readonly Write[] {
  return plan.filter((one) => 'steps' in one)
}

export function isLeft(one: Planned): one is Left {
  return 'why' in one
}

/** What the audit of a client found, and what it was found in. */
export type Findings = {
  readonly books: ClientBooks
  /** The differences that finance has not accepted. */
  readonly differences: readonly Difference[]
  /** Entries outside all settlements that no source explains. */
  readonly strayEntries: readonly Entry[]
  /** After this nothing more is read to plan. */
  readonly isOver: () => boolean
}
