import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import { mapInChunks } from '../chunks.ts'
import { type Registered, walkClients } from '../client/client-register.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { invalidField } from '../errors.ts'
import { endOfBookDay } from '../journal/day-totals.ts'
import { encodeCursor, listDto, pageFields, readCursor } from '../page.ts'
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
 * Lists of a client's settlements and of payouts have warnings that name the figures of a payout.
 * Those of all clients have a cursor, and are too many for these reads.
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

const Progress = v.strictObject({
  ...WALK_FIELDS,
  /** The settlement of this client that ended a page. */
  after: v.optional(v.string()),
})

/**
 * A page of all settlements whose public period ends in a span of days of Asia/Jakarta, client by
 * client, each client's oldest first. Without days: this month so far. A full page, and a run that
 * cannot read all clients, has a cursor.
 */
async function settlementsOfPeriod(deps: SearchDeps, input: SettlementSearch) {
  const {
    period = bookPeriod(deps, input),
    position: start,
    after,
  } = readCursor(Progress, input.cursor) ?? {}
  const found: { readonly settlement: Settlement; readonly next: object }[] = []
  const unreadableIds: string[] = []
  const read = async (clients: readonly Registered[]) => {
    const lists = await mapInChunks(clients, SIDE_BY_SIDE, async (position) => {
      const list = await settlementsEnding(deps, position.clientId, spanOf(period).between)
      return { ...list, position }
    })
    for (const { position, settlements, unreadableIds: ids } of lists) {
      const first = settlements.findIndex(({ settlementId }) => settlementId === after) + 1
      for (const settlement of settlements.slice(first))
        if ([undefined, settlement.status].includes(input.status))
          found.push({ settlement, next: { position, after: settlement.settlementId } })
      unreadableIds.push(...ids)
    }
  }
  const isFull = () => found.length >= input.perPage
  if (start && after !== undefined) await read([start])
  const walk = { read, isFull, atOnce: SIDE_BY_SIDE }
  const position = isFull() ? undefined : await walkClients(deps, start, walk)
  const shown = found.slice(0, input.perPage)
  const next = isFull() ? shown.at(-1)?.next : position && { position }
  const data = shown.map(({ settlement }) => toOperatorSettlement(settlement))
  return {
    ...period,
    ...listDto(data, { unreadableIds }, input),
    ...(next && { continuing: true, cursor: encodeCursor({ period, ...next }) }),
  }
}

function spanOf({ from, to }: BookPeriod) {
  return { between: [addMs(endOfBookDay(from), -DAY_MS), addMs(endOfBookDay(to), -1)] } as const
}
