import { queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { loadOf } from '../../../infra/stack/capacity/load-of.ts'
import { stationsOf } from '../../../infra/stack/capacity/stations.ts'
import type { DeployedStage } from '../../../infra/stack/stage.ts'
import type { Use } from './measure-use.ts'
import type { WorkerSpeeds } from './measure-workers.ts'

/** What one payment asks of the provider's quotas and of the workers that ask it, and when in its life. */
type Station = {
  readonly name: string
  /** Units of its work in a minute. */
  readonly capacity: number
  /** Of its work, for each paid and each unpaid payment, by minutes after the create. */
  readonly paid: readonly Demand[]
  readonly unpaid: readonly Demand[]
}
type Demand = { readonly afterMinutes: number; readonly units: number }

export type FlowModel = { readonly paid: Use; readonly unpaid: Use; readonly speeds: WorkerSpeeds }
export type Wall = {
  readonly perSecond: number
  readonly first: string
  readonly next: string
  readonly nextPerSecond: number
}

const DAY_MINUTES = 24 * 60
const HORIZON_DAYS = 4
export const ROWS_A_PAGE = 50
const PRECISION = 0.001

const workersOf = (name: string, stage: DeployedStage): number => {
  const spec = MANIFEST.find((candidate) => candidate.name === name)
  const [source] = spec ? queuesOf(spec.trigger, loadOf(stage)) : []
  if (!source) throw new Error(`${name} has no queue`)
  return source.maxConcurrency
}

/** A run lists for four of five minutes, and calls the others when it has taken twenty seconds. */
const LISTING_PART = 220 / 300
/** The schedule's own run reads, too. */
export const listingWorkers = (stage: DeployedStage): number => workersOf('sync-slices', stage) + 1
export const dueWorkers = (stage: DeployedStage): number => workersOf('check-due-payments', stage)

/** What is asked at the create, and what at the end of a life: expiry, and settlement by the provider. */
const demands = (name: string, { calls }: Use): readonly Demand[] => {
  const afterMinutes = name.startsWith('GET /v3/payment_requests') || name.endsWith('/cancel') ? DAY_MINUTES : 0
  return [{ afterMinutes, units: calls[name] ?? 0 }]
}

const rowDemands = ({ rows, earlyRows }: Use): readonly Demand[] => [
  { afterMinutes: 0, units: earlyRows },
  { afterMinutes: DAY_MINUTES, units: rows - earlyRows },
]

const stations = ({ paid, unpaid, speeds }: FlowModel, stage: DeployedStage): readonly Station[] => {
  const { callsPerMinute: quota } = loadOf(stage)
  const operations = [...new Set([...Object.keys(paid.calls), ...Object.keys(unpaid.calls)])]
  const rows = { paid: rowDemands(paid), unpaid: rowDemands(unpaid) }
  return [
    ...operations.map((name) => ({
      name: `the quota of \`${name}\``,
      capacity: quota,
      paid: demands(name, paid),
      unpaid: demands(name, unpaid),
    })),
    { name: 'the quota of `GET /transactions`', capacity: quota * ROWS_A_PAGE, ...rows },
    {
      name: `the ${listingWorkers(stage)} workers that list`,
      capacity: listingWorkers(stage) * LISTING_PART * speeds.pages * 60 * ROWS_A_PAGE,
      ...rows,
    },
    {
      name: `the ${dueWorkers(stage)} workers of due payments`,
      capacity: dueWorkers(stage) * speeds.dueItems * 60,
      paid: [],
      unpaid: [{ afterMinutes: DAY_MINUTES, units: 1 }],
    },
  ]
}

/** Whether what waits at it is more on the last day's end than at its beginning, minute by minute. */
const grows = ({ capacity, paid, unpaid }: Station, perSecond: number, paidPart: number): boolean => {
  const perMinute = perSecond * 60
  let [backlog, dayBefore] = [0, 0]
  for (let minute = 0; minute < HORIZON_DAYS * DAY_MINUTES; minute++) {
    const arrived = (all: readonly Demand[], part: number) =>
      all.reduce((sum, { afterMinutes, units }) => sum + (minute < afterMinutes ? 0 : units * part * perMinute), 0)
    backlog = Math.max(0, backlog + arrived(paid, paidPart) + arrived(unpaid, 1 - paidPart) - capacity)
    if (minute === (HORIZON_DAYS - 1) * DAY_MINUTES) dayBefore = backlog
  }
  return backlog > dayBefore
}

/** The highest rate at which nothing grows there; infinite where no payment goes. */
const wallOf = (station: Station, paidPart: number): number => {
  let [low, high] = [0, 1]
  while (!grows(station, high, paidPart)) {
    ;[low, high] = [high, high * 2]
    if (high > 1e7) return Number.POSITIVE_INFINITY
  }
  while (high - low > high * PRECISION) {
    const middle = (low + high) / 2
    if (grows(station, middle, paidPart)) high = middle
    else low = middle
  }
  return low
}

/** The highest rate of payments that goes on without any backlog growing, and what grows first above it. */
export const modelWall = (model: FlowModel, stage: DeployedStage, paidPart: number): Wall => {
  const asked = stations(model, stage).map((station) => ({ name: station.name, perSecond: wallOf(station, paidPart) }))
  // The stations of AWS count a payment's whole use, whenever it comes.
  const walls = [...asked, ...stationsOf(stage)].toSorted((a, b) => a.perSecond - b.perSecond)
  const [first] = walls
  if (first === undefined) throw new Error('nothing is bounded')
  const as = (name: string) =>
    walls.filter(({ perSecond }) => perSecond <= first.perSecond * 1.01).some((wall) => wall.name === name)
  // Where several are reached together, it is the create that everything else waits for.
  const create = 'the quota of `POST /v3/payment_requests`'
  const next = walls.find(({ perSecond }) => perSecond > first.perSecond * 1.01)
  return {
    perSecond: first.perSecond,
    first: as(create) ? create : first.name,
    next: next?.name ?? '',
    nextPerSecond: next?.perSecond ?? Number.POSITIVE_INFINITY,
  }
}
