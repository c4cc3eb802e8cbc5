import { amount, booksOf, clientOf, type RawItem, sum, text } from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import type { Observations } from '../watching/observations.ts'
import { DAY_MS, watchClocks } from '../watching/rules.ts'
import { clientRow, entriesOf } from '../world/rows.ts'
import type { World } from '../world/world.ts'

const MINUTE_MS = 60_000
/** The time of a success is that of a try which is at most a minute old, and its call may take seconds. */
const TRIED_MS = 90_000
/** A worker that records a settlement has read the floor within the time of its function. */
const RECORDING_MS = 5 * MINUTE_MS

/** All that is due of a client and that no settlement took is compared with its floor. */
const unsettledProblems = (world: World): readonly string[] => {
  const { windows } = booksOf(world.table.items('LEDGER#'))
  const now = new Date(world.scheduler.nowMs() - DAY_MS).toISOString()
  return windows.flatMap((window) => {
    const clientId = clientOf(window)
    const floor = amount(clientRow(world, clientId), 'settlement_floor_minor')
    const unsettled = sweptBy(
      { swept_from: text(window, 'settled_until'), swept_until: now },
      entriesOf(world, clientId),
    )
    const due = sum(unsettled, 'net_minor')
    return due > floor ? [`${due} of ${clientId} are never settled, and its floor is ${floor}`] : []
  })
}

/** Checked when a settlement is written: its payments are a day old, its end is past, its net above the floor. */
export const watchSettling = (world: World, seen: Observations): (() => readonly string[]) => {
  const succeededMs = new Map<string, number>()
  const floors = new Map<string, { readonly fromMs: number; readonly floor: number }[]>()
  const apartMs = watchClocks(world)

  const leastFloor = (clientId: string): number => {
    const all = floors.get(clientId) ?? []
    const sinceMs = world.scheduler.nowMs() - RECORDING_MS
    const inForce = all.filter((_, at) => (all[at + 1]?.fromMs ?? Number.POSITIVE_INFINITY) > sinceMs)
    return Math.min(...inForce.map(({ floor }) => floor))
  }

  const ageProblems = (settlement: RawItem): string[] => {
    const id = text(settlement, 'settlement_id')
    const nowMs = world.scheduler.nowMs()
    const young = sweptBy(settlement, entriesOf(world, settlement['client_id'])).filter(
      ({ type, payment_id: paymentId }) => {
        const sinceMs = succeededMs.get(`PAYMENT#${String(paymentId)}`) ?? nowMs
        return type === 'payment' && nowMs - sinceMs < DAY_MS - TRIED_MS - apartMs()
      },
    )
    const isFuture = Date.parse(text(settlement, 'swept_until')) - 1 > nowMs + apartMs() + MINUTE_MS
    return [
      ...young.map((entry) => `settlement ${id} has a payment that was paid today: ${text(entry, 'payment_id')}`),
      ...(isFuture ? [`settlement ${id} ends in the future`] : []),
    ]
  }

  world.onChange.push(({ key: { pk, sk }, before, after }) => {
    if (after === undefined) return
    const nowMs = world.scheduler.nowMs()
    if (sk === 'PAYMENT' && after['status'] === 'succeeded' && before?.['status'] !== 'succeeded') {
      succeededMs.set(pk, nowMs)
    }
    if (sk === 'CLIENT' && before?.['settlement_floor_minor'] !== after['settlement_floor_minor']) {
      const clientId = text(after, 'client_id')
      const floor = amount(after, 'settlement_floor_minor')
      floors.set(clientId, [...(floors.get(clientId) ?? []), { fromMs: nowMs, floor }])
    }
    if (sk !== 'SETTLEMENT' || before !== undefined) return
    seen.problems.push(...ageProblems(after))
    const floor = leastFloor(text(after, 'client_id'))
    const net = amount(after, 'net_minor')
    if (!(net > floor)) seen.problems.push(`settlement ${text(after, 'settlement_id')} of ${net} is not above ${floor}`)
  })

  return () => unsettledProblems(world)
}
