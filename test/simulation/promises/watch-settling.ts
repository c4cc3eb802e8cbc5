import { amount, booksOf, clientOf, type RawItem, sum, text } from '../../support/books.ts'
import { sweptBy } from '../../support/journal-books.ts'
import type { Observations } from '../watching/observations.ts'
import type { World } from '../world/world.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** The time of a success is that of a try which is at most a minute old, and its call may take seconds. */
const TRIED_MS = 90_000
/** Whoever records a settlement has read the floor within the time of its function. */
const RECORDING_MS = 5 * MINUTE_MS

/** How far two machines' clocks are apart from the world's at worst, in this history. */
const clockErrorOf = (world: World): (() => number) => {
  let worstMs = 0
  return () => {
    worstMs = Math.max(worstMs, world.faults.clockSkewMs)
    return worstMs
  }
}

/** Entries that no settlement has, and more of them than the client's floor. */
const unsettledProblems = (world: World): readonly string[] => {
  const { entries, windows } = booksOf(world.table.items())
  return windows.flatMap((window) => {
    const clientId = clientOf(window)
    const floor = amount(world.table.item({ pk: `CLIENT#${clientId}`, sk: 'CLIENT' }) ?? {}, 'settlement_floor_minor')
    const waiting = entries.filter(
      (entry) => clientOf(entry) === clientId && text(entry, 'sk') >= text(window, 'settled_until'),
    )
    const minor = sum(waiting, 'net_minor')
    return minor > floor ? [`${minor} of ${clientId} are never settled, and its floor is ${floor}`] : []
  })
}

/**
 * Checked at the moment a settlement is written: every payment in it has been in `succeeded` for 24 hours (by the world's
 * clock, as we saw it happen), its window ends 24 hours ago, and its net is above the client's floor.
 * Answers, once everything rests, what is above it and was never settled.
 */
export const watchSettling = (world: World, seen: Observations): (() => readonly string[]) => {
  const succeededMs = new Map<string, number>()
  const floors = new Map<string, { readonly fromMs: number; readonly floor: number }[]>()
  const clockError = clockErrorOf(world)

  const leastFloor = (clientId: string): number => {
    const all = floors.get(clientId) ?? []
    const sinceMs = world.scheduler.nowMs() - RECORDING_MS
    const inForce = all.filter((_, at) => (all[at + 1]?.fromMs ?? Number.POSITIVE_INFINITY) > sinceMs)
    return Math.min(...inForce.map(({ floor }) => floor))
  }

  const ageProblems = (settlement: RawItem): string[] => {
    const id = text(settlement, 'settlement_id')
    const nowMs = world.scheduler.nowMs()
    const end = text(settlement, 'swept_until')
    const own = booksOf(world.table.items()).entries.filter((entry) => clientOf(entry) === settlement['client_id'])
    const paid = sweptBy(settlement, own).filter(({ type }) => type === 'payment')
    const young = paid.filter((entry) => {
      const sinceMs = succeededMs.get(`PAYMENT#${text(entry, 'payment_id')}`) ?? nowMs
      return nowMs - sinceMs < DAY_MS - TRIED_MS - 2 * clockError()
    })
    return [
      ...young.map((payment) => `settlement ${id} has a payment that was paid today: ${text(payment, 'payment_id')}`),
      ...(Date.parse(end) - 1 > nowMs + clockError() ? [`settlement ${id} ends in the future`] : []),
    ]
  }

  world.onChange.push(({ key: { pk, sk }, before, after }) => {
    if (after === undefined) return
    const nowMs = world.scheduler.nowMs()
    clockError()
    if (sk === 'PAYMENT' && after['status'] === 'succeeded' && before?.['status'] !== 'succeeded') {
      succeededMs.set(pk, nowMs)
    }
    if (sk === 'CLIENT' && before?.['settlement_floor_minor'] !== after['settlement_floor_minor']) {
      const clientId = text(after, 'client_id')
      floors.set(clientId, [
        ...(floors.get(clientId) ?? []),
        { fromMs: nowMs, floor: amount(after, 'settlement_floor_minor') },
      ])
    }
    if (sk !== 'SETTLEMENT' || before !== undefined) return
    seen.problems.push(...ageProblems(after))
    const floor = leastFloor(text(after, 'client_id'))
    if (!(amount(after, 'net_minor') > floor)) {
      seen.problems.push(
        `settlement ${text(after, 'settlement_id')} of ${amount(after, 'net_minor')} is not above ${floor}`,
      )
    }
  })

  return () => unsettledProblems(world)
}
