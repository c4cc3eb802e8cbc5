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
 * Lists of a client's settlements and of payouts have warnings that name the figures of a payout
 * that no batch has claimed. Those of all clients have a cursor, and are too many for these reads.
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
  /** The settlement that ended a page. */
  after: v.optional(v.string()),
})

/**
 * A page of all settlements whose public period ends in a span of days of Asia/Jakarta, client by
 * client, each client's oldest first. Without days: this month so far. A full page, and a run that
 * cannot read all clients, has a cursor.
 */
async function settlementsOfPeriod(deps: SearchDeps, input: SettlementSearch) {
  const progress = readCursor(Progress, input.cursor)
  const period = progress?.period ?? bookPeriod(deps, input)
  const found: Settlement[] = []
  const unreadableIds: string[] = []
  let position = progress?.position
  const isFull = () => found.length >= input.perPage
  const read = async (clients: readonly Registered[]) => {
    const lists = await mapInChunks(clients, SIDE_BY_SIDE, ({ clientId }) =>
      settlementsEnding(deps, clientId, spanOf(period).between),
    )
    const all = lists.flatMap(({ settlements }) => settlements)
    const last = all.findIndex(({ settlementId }) => settlementId === progress?.after)
    const isAsked = ({ status }: Settlement) => [undefined, status].includes(input.status)
    found.push(...all.slice(last + 1).filter(isAsked))
    unreadableIds.push(...lists.flatMap((list) => list.unreadableIds))
    if (!isFull()) position = clients.at(-1)
  }
  const end = await walkClients(deps, position, { read, isFull, atOnce: SIDE_BY_SIDE })
  const shown = found.slice(0, input.perPage)
  const after = isFull() ? shown.at(-1)?.settlementId : undefined
  return {
    ...period,
    ...listDto(shown.map(toOperatorSettlement), { unreadableIds }, input),
    ...((end ?? after) && { continuing: true, cursor: encodeCursor({ period, position, after }) }),
  }
}

function spanOf({ from, to }: BookPeriod) {
  return { between: [addMs(endOfBookDay(from), -DAY_MS), addMs(endOfBookDay(to), -1)] } as const
}
