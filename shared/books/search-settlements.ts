import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import { mapInChunks } from '../chunks.ts'
import { walkClients } from '../client/client-register.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { invalidField } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { endOfBookDay } from '../journal/day-totals.ts'
import { encodeCursor, listDto, pageFields, readCursor, unreadableDto } from '../page.ts'
import { missingApproval, SIDE_BY_SIDE } from '../payout/judge-payouts.ts'
import { SETTLEMENT_STATUSES, type Settlement } from '../settlement/settlement.ts'
import { toOperatorSettlement } from '../settlement/settlement-dto.ts'
import {
  listPayouts,
  listSettlements,
  listSettlementsOf,
  settlementsEnding,
} from '../settlement/settlement-store.ts'
import { addMs, DAY_MS } from '../time.ts'
import { type BookPeriod, bookPeriod, periodFields, WALK_FIELDS } from './book-period.ts'

const { format: _, ...days } = periodFields

export const settlementSearch = v.pipe(
  v.strictObject({
    client_id: v.optional(v.string()),
    status: v.optional(v.picklist(SETTLEMENT_STATUSES)),
    ...days,
    ...pageFields,
  }),
  v.check(
    ({ client_id, status, from, to }) => (client_id ?? status ?? from ?? to) !== undefined,
    'give client_id, status, from or to',
  ),
)

type SettlementSearch = ActionRequest<v.InferOutput<typeof settlementSearch>>

type SearchDeps = Pick<Deps, 'table' | 'now' | 'monotonicMs' | 'log'>

/**
 * Lists of a client's settlements and of payouts have pages, whose warnings name the figures of a
 * payout. Those of all clients have a cursor, and are too many for these reads.
 */
export async function searchSettlements(deps: SearchDeps, search: SettlementSearch) {
  const { clientId, status, from, to, cursor, ...page } = search
  if (clientId !== undefined) await requireClient(deps, clientId)
  const hasDays = from !== undefined || to !== undefined
  const isPaged = clientId !== undefined || (status === 'recorded' && !hasDays)
  if (isPaged && cursor !== undefined) throw invalidField('cursor', 'use page instead')
  if (!isPaged && page.page > 1) throw invalidField('page', 'use cursor instead')
  if (!isPaged) return settlementsOfPeriod(deps, search)
  const list = { ...page, range: hasDays ? spanOf(bookPeriod(deps, search)) : undefined }
  const read = await (clientId === undefined
    ? listPayouts(deps, list)
    : status === undefined
      ? listSettlements(deps, clientId, list)
      : listSettlementsOf(deps, { clientId, status }, list))
  const data = await mapInChunks(read.rows, SIDE_BY_SIDE, (one) => withWarning(deps, one))
  return listDto(data, read, page)
}

async function withWarning(deps: SearchDeps, settlement: Settlement) {
  const shown = toOperatorSettlement(settlement)
  const { status, batch, bank } = settlement
  if (status !== 'recorded' || batch !== undefined || bank === undefined) return shown
  return { ...shown, warning: await missingApproval(deps, settlement) }
}

const Progress = v.strictObject(WALK_FIELDS)

const CLIENTS_AT_ONCE = 8

/** A Lambda answers at most 6 MB, and a year of the last clients may follow. */
const FULL_BYTES = 2_500_000

/**
 * All settlements whose public period ends in a span of days of Asia/Jakarta, client by client,
 * each client's oldest first. Without days: this month so far. A run that cannot read all clients
 * answers a cursor.
 */
async function settlementsOfPeriod(deps: SearchDeps, input: SettlementSearch) {
  const progress = readCursor(Progress, input.cursor)
  const period = progress?.period ?? bookPeriod(deps, input)
  const shown: ReturnType<typeof toOperatorSettlement>[] = []
  let bytes = 0
  const unreadable: string[] = []
  const read = async (clientIds: readonly ClientId[]) => {
    const lists = await mapInChunks(clientIds, CLIENTS_AT_ONCE, (clientId) =>
      settlementsEnding(deps, clientId, spanOf(period).between),
    )
    const found = lists
      .flatMap((list) => list.settlements)
      .filter(({ status }) => input.status === undefined || status === input.status)
      .map(toOperatorSettlement)
    shown.push(...found)
    bytes += Buffer.byteLength(JSON.stringify(found))
    unreadable.push(...lists.flatMap(({ unreadableIds }) => unreadableIds))
  }
  const isFull = () => bytes >= FULL_BYTES
  const walk = { read, isFull, atOnce: CLIENTS_AT_ONCE }
  const position = await walkClients(deps, progress?.position, walk)
  return {
    ...period,
    data: shown,
    ...unreadableDto(unreadable),
    ...(position && { continuing: true, cursor: encodeCursor({ period, position }) }),
  }
}

function spanOf({ from, to }: BookPeriod) {
  return { between: [addMs(endOfBookDay(from), -DAY_MS), addMs(endOfBookDay(to), -1)] } as const
}
