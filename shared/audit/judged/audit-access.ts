import { type ApiKey, apiKeyRow } from '../../client/api-key-store.ts'
import type { StoreDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { apiKeyKey, endpointsPk } from '../../table/keys.ts'
import { queryAll } from '../../table/list-items.ts'
import { compare, type Difference, unknownName } from '../../verdict/difference.ts'
import {
  type Endpoint,
  EndpointEventTypeSchema,
  EndpointSchema,
} from '../../webhook/endpoint/endpoint.ts'
import { endpointRow } from '../../webhook/endpoint/endpoint-store.ts'
import { recordedDifferences, rowDifferences } from '../rows/row-differences.ts'
import { endpointsIn, keysIn } from './derive-client.ts'

const PAGE = 100

/** Derives the keys and endpoints of a client from its chain, and finds what no record names. */
export async function auditAccess(
  deps: StoreDeps,
  clientId: ClientId,
  records: readonly AuditRecord[],
) {
  return [
    ...(await auditKeys(deps, clientId, keysIn(records))),
    ...(await auditEndpoints(deps, clientId, endpointsIn(records))),
  ]
}

async function auditKeys(deps: StoreDeps, clientId: ClientId, keys: readonly ApiKey[]) {
  const [items, listed] = await Promise.all([
    deps.table.getMany(keys.map(({ keyId }) => apiKeyKey(keyId))),
    queryAll(deps, { index: 'by-owner', partition: [clientId, 'api_key'], limit: PAGE }),
  ])
  const recorded = new Map(keys.map((key) => [key.keyId, apiKeyRow(key)]))
  const rows = new Map(keys.map(({ keyId }, at) => [keyId, items[at]]))
  const found = listed.map(({ id }) => String(id))
  return recordedDifferences('api_key', recorded, rows, found)
}

/** The sealed secret is not read: only the delivery worker may read it. */
async function auditEndpoints(deps: StoreDeps, clientId: ClientId, endpoints: readonly Endpoint[]) {
  const rows = await queryAll(deps, {
    partition: [endpointsPk(clientId)],
    limit: PAGE,
    fields: Object.keys(EndpointSchema.entries),
  })
  const differences: Difference[] = []
  const unread = new Set(rows)
  for (const endpoint of endpoints) {
    const { endpointId, deletedAt } = endpoint
    const row = rows.find((item) => item['endpointId'] === endpointId)
    if (row) unread.delete(row)
    const marks = ifValid(EndpointSchema, row)
    const { slowSince, lastAlertAt } = marks ?? {}
    const kind = deletedAt === undefined ? 'endpoint' : 'deleted_endpoint'
    const derived = endpointRow({ ...endpoint, slowSince, lastAlertAt })
    const unknownTypes = (marks?.eventTypes ?? []).filter(
      (type) => ifValid(EndpointEventTypeSchema, type) === undefined,
    )
    differences.push(
      ...rowDifferences(kind, endpointId, derived, row),
      ...unknownTypes.map((type) => unknownName('endpoint', type)),
    )
  }
  const strays = [...unread].map(({ endpointId }) => String(endpointId))
  return [
    ...differences,
    ...strays.flatMap((id) => compare('endpoint', id, 'recorded', 'not recorded')),
  ]
}
