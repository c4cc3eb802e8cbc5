import type { AuditDeps } from '../audit/audit-parts.ts'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { Steps } from '../table/table.ts'
import type { Difference } from '../verdict/difference.ts'

export type RecountDeps = AuditDeps & RecordDeps & Pick<Deps, 'provider'>

/** One transaction that repairs some differences. */
export type Repair = {
  /** The repaired payment or settlement, or the client. */
  readonly subject: string
  /** The repaired differences, with their present values. */
  readonly of: readonly Difference[]
  /** Writes the repair with its audit record. False: its data has changed after the read; nothing was written. */
  readonly write: () => Promise<boolean>
}

export type RecountBy = { readonly client: Client; readonly operator: string }

const figure = ({ what, id, expected, found }: Difference) => ({ what, id, expected, found })

/** Makes a repair whose steps are built when it is written. */
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
    /** The differences in the audit record: those of this repair, or of a later one that needs it. */
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
