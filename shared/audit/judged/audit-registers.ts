import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import type { Client } from '../../client/client.ts'
import {
  CLIENTS_SUBJECT,
  registeredClients,
  registrationKey,
} from '../../client/client-register.ts'
import type { StoreDeps, TableDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { notedItems } from '../../suspense/suspense-store.ts'
import type { Item } from '../../table/attributes.ts'
import { queryAll } from '../../table/list-items.ts'
import { GATEWAY_OWNER } from '../../table/schema.ts'
import { compare, withClient } from '../../verdict/difference.ts'
import { auditBatches } from './audit-batches.ts'
import { auditSyncHead, auditVerdict } from './audit-progress.ts'
import { auditSubjects, readTrail } from './audit-trails.ts'

/**
 * The register is an intact chain, and names every client that the index lists. The audit of each
 * registered client compares the client's row. Recent approvals of no client and the last batches
 * are as their records say, and the gateway's own progress is possible.
 */
export async function auditRegister(deps: StoreDeps) {
  const { differences } = await readTrail(deps, CLIENTS_SUBJECT, undefined)
  const listed = await queryAll(deps, {
    index: 'by-owner',
    partition: [GATEWAY_OWNER, 'client'],
    limit: PAGE,
  })
  const registeredIds = new Set<unknown>()
  for await (const { clients } of registeredClients(deps, { limit: PAGE }))
    for (const { clientId } of clients) registeredIds.add(clientId)
  const unregistered = listed.map(({ id }) => String(id)).filter((id) => !registeredIds.has(id))
  return [
    ...differences,
    ...(await auditSubjects(deps, GATEWAY_OWNER, { full: false })),
    ...unregistered.flatMap((id) => withClient(id, unregisteredClient(id))),
    ...(await auditBatches(deps)),
    ...(await auditVerdict(deps, GATEWAY_OWNER, undefined)),
    ...(await auditSyncHead(deps)),
  ]
}

const PAGE = 1_000

function unregisteredClient(clientId: string) {
  return compare('client', clientId, 'in the register', 'not in the register')
}

const Registration = v.object({ after: v.object({ client_id: v.string() }) })

export async function auditRegistration(deps: TableDeps, client: Client) {
  const record = await deps.table.get(registrationKey(client))
  const isRegistered = v.is(Registration, record) && record.after.client_id === client.clientId
  return isRegistered ? [] : unregisteredClient(client.clientId)
}

/** A row of the suspense register, by the client of its key. */
export type Note = {
  readonly id: string
  readonly clientId: string | undefined
  readonly note: Item
}

const SIDE_BY_SIDE = 16

/** The registers of suspense of the wanted clients, and of suspense without a client. */
export async function readNotes(deps: TableDeps, isWanted: (owner: string) => boolean) {
  const notes: Note[] = isWanted(GATEWAY_OWNER) ? [...(await notesOf(deps, undefined))] : []
  for await (const { clients } of registeredClients(deps, { limit: PAGE })) {
    const wanted = clients.filter(({ clientId }) => isWanted(clientId))
    const lists = await mapInChunks(wanted, SIDE_BY_SIDE, (one) => notesOf(deps, one.clientId))
    notes.push(...lists.flat())
  }
  return notes
}

export async function notesOf(deps: TableDeps, clientId: ClientId | undefined) {
  const notes = await notedItems(deps, clientId)
  return notes.map((note) => ({ id: String(note['sk']), clientId, note }))
}
