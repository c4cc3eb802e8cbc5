import type { AuditDeps } from '../audit/audit-parts.ts'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { Steps } from '../table/table.ts'
import type { Difference } from '../verdict/difference.ts'

export type RecountDeps = AuditDeps & RecordDeps & Pick<Deps, 'provider'>

/** One transaction that repairs some differences. */
export type Repair = {
  /** The payment or settlement that it completes, or the client. */
  readonly subject: string
  /** The differences that it repairs, as they are found now. */
  readonly of: readonly Difference[]
  /** Writes it with its audit record. False: something that it relies on has changed since it was read. */
  readonly write: () => Promise<boolean>
}

export type RecountBy = { readonly client: Client; readonly operator: string }

const figure = ({ what, id, expected, found }: Difference) => ({ what, id, expected, found })

/** A repair whose steps stand. `subject`: the payment or settlement that is completed, or the client. */
export const repairOf = (
  deps: RecordDeps,
  { client: { clientId }, operator }: RecountBy,
  {
    subject,
    of,
    towards = of,
    steps,
  }: {
    readonly subject: string
    readonly of: readonly Difference[]
    /** What the record names: the differences that it repairs, or that a later one repairs after it. */
    readonly towards?: readonly Difference[]
    readonly steps: () => Promise<Steps<string>> | Steps<string>
  },
): Repair => ({
  subject,
  of,
  write: async () => {
    const record = {
      subject,
      clientId,
      operator,
      action: 'recount-ledger',
      after: { repaired: towards.map(figure) },
    }
    return (await recordChange(deps, record, await steps())).applied
  },
})
