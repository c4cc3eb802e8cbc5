import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import { registeredClients } from '../../client/client-register.ts'
import type { TableDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { type Noted, NotedSchema, type Suspense } from '../../suspense/suspense.ts'
import { notedItems } from '../../suspense/suspense-store.ts'
import { attributeName } from '../../table/attributes.ts'
import { notedKey } from '../../table/keys.ts'
import { compare, type HouseDifference, withClient } from '../../verdict/difference.ts'

/** A row of the suspense register, by the client of its key. */
export type Note = {
  readonly id: string
  readonly clientId: string | undefined
  /** Undefined if unreadable. */
  readonly noted: Noted | undefined
}

const SIDE_BY_SIDE = 16

/** The register of one client, or of all clients and of suspense without a client. */
export async function readNotes(
  deps: TableDeps,
  onlyClient: ClientId | undefined,
): Promise<readonly Note[]> {
  const read = async (clientId: ClientId | undefined) =>
    (await notedItems(deps, clientId)).map((item) => {
      const id = String(item['sk'])
      const noted = ifValid(NotedSchema, item)
      return { id, clientId, noted: noted?.suspenseId === id ? noted : undefined }
    })
  if (onlyClient !== undefined) return read(onlyClient)
  const notes: Note[] = await read(undefined)
  for await (const { clients } of registeredClients(deps, { limit: 1_000 })) {
    const lists = await mapInChunks(clients, SIDE_BY_SIDE, ({ clientId }) => read(clientId))
    notes.push(...lists.flat())
  }
  return notes
}

const NOTED_FIELDS = v.keyof(NotedSchema).options

/** Each item has one row in the register, under its client, with the same values. */
export async function compareWithNotes(
  deps: TableDeps,
  item: Suspense,
  notes: readonly Note[],
): Promise<readonly HouseDifference[]> {
  const { suspenseId: id, clientId: owner } = item
  const differences = notes.flatMap(({ clientId, noted }) =>
    withClient(
      clientId,
      noted
        ? NOTED_FIELDS.flatMap((field) =>
            compare(`suspense.${attributeName(field)}`, id, noted[field], item[field]),
          )
        : compare('noted', id, 'readable', 'unreadable'),
    ),
  )
  // An item that is younger than the read of the register is looked up.
  const isNoted =
    notes.some(({ clientId }) => clientId === owner) || (await deps.table.get(notedKey(item)))
  return isNoted
    ? differences
    : [...differences, ...withClient(owner, compare('noted', id, 'present', 'missing'))]
}
