import * as v from 'valibot'
import type { Client } from '../../../shared/client/client.ts'
import { derivedUuid, SettlementIdSchema } from '../../../shared/ids.ts'
import { type Entry, figuresOf, netsOf, newEntry } from '../../../shared/journal/entry.ts'
import { putEntry } from '../../../shared/journal/entry-store.ts'
import { shardRow } from '../../../shared/ledger/shard-store.ts'
import { minor, ZERO } from '../../../shared/money.ts'
import { recreditEntry } from '../../../shared/settlement/recredit-settlement.ts'
import { returnedEntry } from '../../../shared/settlement/return-payout.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { putSettlement } from '../../../shared/settlement/settlement-store.ts'
import { addBlock, emptySums } from '../../../shared/settlement/sum-entries.ts'
import { shardKey, windowKey } from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { put } from '../../../shared/table/step.ts'
import {
  addMs,
  DAY_MS,
  HOUR_MS,
  later,
  type Timestamp,
  TimestampSchema,
} from '../../../shared/time.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'

const START = v.parse(TimestampSchema, '2026-01-01T00:00:00.000Z')
const SWEEPS = 24
const BETWEEN_MS = 15 * DAY_MS
/** When the year is over, closed and looked at. */
export const AFTER_YEAR = v.parse(TimestampSchema, '2027-01-05T04:00:00.000Z')
const CLOSED_UNTIL = v.parse(TimestampSchema, '2027-01-04T17:00:00.000Z')

/** Each settlement's end in turn: what becomes of it, and how many days after it was recorded. */
const ENDS = ['paid', 'failed', 'returned', 'paid late']

/**
 * A client with a year of payments, refunds and settlements, written as rows: the figures are those
 * that the gateway writes, without the year of simulated work. `seed` varies times and amounts.
 */
export async function aClientOfAYear(deps: TestDeps, seed: number) {
  deps.clock.set(START)
  const client = await aStoredClient(deps)
  const { clientId } = client
  const random = generator(seed)
  const entries: Entry[] = []
  const settlements: Settlement[] = []
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const sweptFrom = addMs(START, sweep * BETWEEN_MS)
    const sweptUntil = addMs(sweptFrom, BETWEEN_MS)
    entries.push(...movements(clientId, `${sweep}`, sweptFrom, random))
    const settlement = settled({ clientId, sweptFrom, sweptUntil, entries, settlements })
    settlements.push(settlement)
    entries.push(...afterwards(settlement))
  }
  for (const entry of entries) await deps.table.write(putEntry(clientId, entry))
  for (const settlement of settlements) await deps.table.write(putSettlement(settlement))
  await writeLedger(deps, clientId, entries, settlements)
  return client
}

type Random = (most: number) => number

/** Numbers from 0 to below `most`, the same for a seed. */
function generator(seed: number): Random {
  let state = (seed * 2_654_435_761) % 2_147_483_647 || 1
  return (most) => {
    state = (state * 48_271) % 2_147_483_647
    return state % most
  }
}

const HOURS = BETWEEN_MS / HOUR_MS - 30

/** Payments at any time of the window, some refunded. A payment may become eligible a day later. */
function movements(clientId: string, name: string, start: Timestamp, random: Random) {
  return Array.from({ length: 3 }, (_, number) => {
    const postedAt = addMs(start, random(HOURS) * HOUR_MS + random(3_600) * 1_000)
    const id = `${clientId} ${name} ${number}`
    const gross = 50_000 + random(100_000)
    const payment = newEntry({
      entryId: derivedUuid('payment', id),
      type: 'payment',
      method: 'virtual_account',
      externalReference: `order ${id}`,
      postedAt,
      eligibleAt: addMs(postedAt, random(2) * DAY_MS),
      ...figuresOf(minor(gross), minor(4_000), minor(50)),
      providerMinor: minor(gross - 4_000),
    })
    if (random(3) > 0) return [payment]
    const refundedAt = addMs(postedAt, random(24) * HOUR_MS)
    const refund = newEntry({
      entryId: derivedUuid('refund', id),
      type: 'refund',
      postedAt: refundedAt,
      eligibleAt: later(refundedAt, payment.eligibleAt),
      ...figuresOf(minor(-10_000), ZERO, ZERO),
      providerMinor: minor(-10_000),
    })
    return [payment, refund]
  }).flat()
}

type Swept = Pick<Settlement, 'clientId' | 'sweptFrom' | 'sweptUntil'> & {
  readonly entries: readonly Entry[]
  readonly settlements: readonly Settlement[]
}

function settled({ entries, settlements, ...window }: Swept): Settlement {
  const { clientId, sweptFrom, sweptUntil } = window
  const number = settlements.length
  const settlementId = v.parse(
    SettlementIdSchema,
    derivedUuid('settlement', `${clientId} ${number}`),
  )
  const own = entries
    .filter(({ eligibleAt }) => eligibleAt >= sweptFrom && eligibleAt < sweptUntil)
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  const end = ENDS[number % ENDS.length]
  const isPaid = end !== 'failed'
  return {
    ...window,
    settlementId,
    ...addBlock(emptySums(settlementId), own, sweptFrom),
    currency: 'IDR',
    status: isPaid ? 'manual_paid' : 'failed',
    triggeredBy: 'auto',
    previousId: settlements.at(-1)?.settlementId,
    createdAt: sweptUntil,
    ...(isPaid && { settledAt: addMs(sweptUntil, (end === 'paid late' ? 20 : 1) * DAY_MS) }),
    ...(!isPaid && { recreditedAt: addMs(sweptUntil, 2 * DAY_MS) }),
    ...(end === 'returned' && { returnedAt: addMs(sweptUntil, 3 * DAY_MS) }),
  }
}

function placeOf({ eligibleAt, entryId }: Entry) {
  return `${eligibleAt} ${entryId}`
}

function afterwards(settlement: Settlement) {
  const { recreditedAt, returnedAt } = settlement
  return [
    ...(recreditedAt ? [recreditEntry(settlement, recreditedAt)] : []),
    ...(returnedAt ? [returnedEntry(settlement, returnedAt)] : []),
  ]
}

async function writeLedger(
  deps: TestDeps,
  clientId: Client['clientId'],
  entries: readonly Entry[],
  settlements: readonly Settlement[],
) {
  const last = settlements.at(-1)
  const window = {
    settledUntil: last?.sweptUntil,
    closedUntil: CLOSED_UNTIL,
    availableMinor: 0,
    inSettlementMinor: 0,
    paidOutMinor: settlements
      .filter(({ status }) => status === 'manual_paid')
      .reduce((sum, { netMinor }) => sum + netMinor, 0),
    writtenOffMinor: 0,
    lastSettlementId: last?.settlementId,
  }
  await deps.table.write(put(windowKey(clientId), window))
  for (let shard = 0; shard < LEDGER_SHARDS; shard++) {
    const creditedMinor = shard === 0 ? netsOf(entries) : ZERO
    const row = shardRow({ closedUntil: CLOSED_UNTIL, creditedMinor })
    await deps.table.write(put(shardKey(clientId, shard), row))
  }
}
