import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../client/client.ts'
import { toClientDto } from '../../client/client-dto.ts'
import type { Deps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { type Difference, differs } from '../../verdict/difference.ts'
import { readTrail, type Trail } from './audit-trail.ts'

const isClientChange = ({ action }: AuditRecord): boolean => action === 'create-client' || action === 'update-client'

/** The audit trail of a client's own changes. Every client has one from its creation. */
export const clientTrail = (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<Trail> => readTrail(deps, clientId)

const BANK = /^bank/

/** A client equals what its trail says: no field, bank details above all, changes without a record. */
export const auditClientRecord = (client: Client, records: readonly AuditRecord[]): readonly Difference[] => {
  const { clientId } = client
  const last = records.toSorted((a, b) => a.number - b.number).findLast(isClientChange)
  if (last?.after === undefined) return differs('audit_record', clientId, 'a record of its creation', 'none')
  const written = last.after
  return Object.entries(toClientDto(client)).flatMap(([field, value]) => {
    if (isDeepStrictEqual(written[field], value)) return []
    const [expected, found] = [JSON.stringify(written[field]), JSON.stringify(value)]
    // Alerts do not repeat bank details: the difference is enough, and the trail has them.
    const isPrivate = BANK.test(field)
    return differs(
      `client.${field}`,
      clientId,
      isPrivate ? 'as in its audit record' : (expected ?? 'absent'),
      isPrivate ? 'otherwise' : found,
    )
  })
}
