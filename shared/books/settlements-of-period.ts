import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import { walkClients } from '../client/client-register.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { endOfBookDay } from '../journal/day-totals.ts'
import { encodeCursor, readCursor, unreadableDto } from '../page.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { toOperatorSettlement } from '../settlement/settlement-dto.ts'
import { settlementsEnding } from '../settlement/settlement-store.ts'
import { addMs, DAY_MS } from '../time.ts'
import { bookPeriod, type PeriodInput, WALK_FIELDS } from './book-period.ts'

type PeriodDeps = Pick<Deps, 'table' | 'now' | 'monotonicMs'>

type SettlementsInput = Omit<PeriodInput, 'format'> & {
  /** If absent: all clients. */
  readonly clientId?: ClientId | undefined
  readonly status?: Settlement['status'] | undefined
}

const Progress = v.strictObject(WALK_FIELDS)

const CLIENTS_AT_ONCE = 8

/** A Lambda answers at most 6 MB, and a year of the last clients may follow. */
const FULL_BYTES = 2_500_000

/**
 * Settlements whose public period ends in a span of days of Asia/Jakarta, client by client, each
 * client's oldest first. Without days: this month so far. Changes nothing. A run that cannot read
 * all clients answers a cursor.
 */
export async function settlementsOfPeriod(
  deps: PeriodDeps,
  input: SettlementsInput,
): Promise<object> {
  const progress = readCursor(Progress, input.cursor)
  const period = progress?.period ?? bookPeriod(deps, input)
  const shown: ReturnType<typeof toOperatorSettlement>[] = []
  let bytes = 0
  const unreadable: string[] = []
  const read = async (clientIds: readonly ClientId[]) => {
    const span = [
      addMs(endOfBookDay(period.from), -DAY_MS),
      addMs(endOfBookDay(period.to), -1),
    ] as const
    const lists = await mapInChunks(clientIds, CLIENTS_AT_ONCE, (clientId) =>
      settlementsEnding(deps, clientId, span),
    )
    const found = lists
      .flatMap((list) => list.settlements)
      .filter(({ status }) => input.status === undefined || status === input.status)
      .map(toOperatorSettlement)
    shown.push(...found)
    bytes += Buffer.byteLength(JSON.stringify(found))
    unreadable.push(...lists.flatMap(({ unreadableIds }) => unreadableIds))
  }
  let position = progress?.position
  if (input.clientId === undefined) {
    position = await walkClients(deps, position, {
      read,
      isFull: () => bytes >= FULL_BYTES,
      atOnce: CLIENTS_AT_ONCE,
    })
  } else await read([input.clientId])

  return {
    ...period,
    data: shown,
    ...unreadableDto(unreadable),
    ...(position && { continuing: true, cursor: encodeCursor({ period, position }) }),
  }
}
