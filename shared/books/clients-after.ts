import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, ClientIdSchema } from '../ids.ts'
import { clientKey } from '../table/keys.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'

/** A client's position among all clients, oldest first. */
export type ClientPosition = { readonly clientId: ClientId; readonly createdAt: Timestamp }

const Row = v.object({ id: ClientIdSchema, listedAt: TimestampSchema })

/** Clients of one page. They are read at the same time, before the run checks its time again. */
const PAGE = 40

/** A page of the clients after a position. The index suggests: a client of this minute may be missing. */
export const clientsAfter = async (
  deps: Pick<Deps, 'table'>,
  after: ClientPosition | undefined,
): Promise<{ readonly clientIds: readonly ClientId[]; readonly next: ClientPosition | undefined }> => {
  const { items, cursor } = await deps.table.query({
    index: 'by-owner',
    partition: [GATEWAY_OWNER, 'client'],
    limit: PAGE,
    ...(after && { cursor: cursorOf(after) }),
  })
  const rows = items.map((item) => v.parse(Row, item))
  const last = rows.at(-1)
  return {
    clientIds: rows.map(({ id }) => id),
    next: cursor && last ? { clientId: last.id, createdAt: last.listedAt } : undefined,
  }
}

/** The attributes of the table and of the index, as the table spells them. */
const cursorOf = ({ clientId, createdAt }: ClientPosition) => ({
  ...clientKey(clientId),
  owner: GATEWAY_OWNER,
  entity: 'client',
  listed_at: createdAt,
  id: clientId,
})
