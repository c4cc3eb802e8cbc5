import * as v from 'valibot'
import type { TableDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { Item } from '../../table/attributes.ts'
import { pushesKey } from '../../table/keys.ts'
import { any, atMost, put, unchanged } from '../../table/step.ts'
import type { WriteOutcome } from '../../table/table.ts'
import { epochMs, SECOND_MS, type Timestamp, TimestampSchema } from '../../time.ts'

/** `number` grows with each write, so that two callers never write over each other. */
const PushesSchema = v.object({
  number: v.number(),
  sent: v.array(v.object({ reference: v.string(), at: TimestampSchema })),
})
type Pushes = v.InferOutput<typeof PushesSchema>

export function pushesIn(item: Item | undefined): Pushes | undefined {
  return ifValid(PushesSchema, item)
}

/**
 * Refused when another caller has written since the read. A row with a past `ttl` is replaced, and
 * so is a row that cannot be read: it would refuse all pushes to the phone.
 */
export function putPushes(
  deps: TableDeps,
  { clientId, phone }: { readonly clientId: ClientId; readonly phone: string },
  { sent, ttl }: Pick<Pushes, 'sent'> & { readonly ttl: number },
  read: Item | undefined,
  now: Timestamp,
): Promise<WriteOutcome> {
  const hasExpired = atMost('ttl', Math.floor(epochMs(now) / SECOND_MS))
  const row = { number: (pushesIn(read)?.number ?? 0) + 1, sent, ttl }
  const isAsRead = any(unchanged('number', read?.['number']), hasExpired)
  return deps.table.write(put(pushesKey(clientId, phone), row, isAsRead))
}
