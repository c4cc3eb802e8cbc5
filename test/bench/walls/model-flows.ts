import { queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { stationsOf } from '../../../infra/stack/capacity/stations.ts'
import { type DeployedStage, loadOf } from '../../../infra/stack/stage.ts'
import type { Use, WorkerSpeeds } from './measure-use.ts'

/** A quota of the provider, or the workers that ask it: what it does, and what one payment asks of it in its life. */
type Station = {
  readonly name: string
  /** Units of its work in a minute. */
  readonly capacity: number
  readonly paid: number
  readonly unpaid: number
}

export type FlowModel = { readonly paid: Use; readonly unpaid: Use; readonly speeds: WorkerSpeeds }
type Wall = {
  readonly perSecond: number
  readonly first: string
  readonly next: string
  readonly nextPerSecond: number
}

export const ROWS_A_PAGE = 50

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

const stations = ({ paid, unpaid, speeds }: FlowModel, stage: DeployedStage): readonly Station[] => {
  const { callsPerMinute: quota } = loadOf(stage)
  const operations = [...new Set([...Object.keys(paid.calls), ...Object.keys(unpaid.calls)])]
  const rows = { paid: paid.rows, unpaid: unpaid.rows }
  return [
    ...operations.map((name) => ({
      name: `the quota of \`${name}\``,
      capacity: quota,
      paid: paid.calls[name] ?? 0,
      unpaid: unpaid.calls[name] ?? 0,
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
      paid: 0,
      unpaid: 1,
    },
  ]
}

/** The highest rate at which it does all that is asked; infinite where no payment goes. */
const wallOf = ({ capacity, paid, unpaid }: Station, paidPart: number): number =>
  capacity / 60 / (paid * paidPart + unpaid * (1 - paidPart))

/** The highest rate of payments that goes on without any backlog growing, and what grows first above it. */
export const modelWall = (model: FlowModel, stage: DeployedStage, paidPart: number): Wall => {
  const asked = stations(model, stage).map((station) => ({ name: station.name, perSecond: wallOf(station, paidPart) }))
  // The stations of AWS count a payment's whole use, whenever it comes.
  const walls = [...asked, ...stationsOf(stage)].toSorted((a, b) => a.perSecond - b.perSecond)
  const [first] = walls
  if (first === undefined) throw new Error('nothing is bounded')
  const isTogether = ({ perSecond }: typeof first) => perSecond <= first.perSecond * 1.01
  // Where several are reached together, it is the create that everything else waits for.
  const create = walls.find((wall) => isTogether(wall) && wall.name === 'the quota of `POST /v3/payment_requests`')
  const next = walls.find((wall) => !isTogether(wall))
  return {
    perSecond: first.perSecond,
    first: (create ?? first).name,
    next: next?.name ?? '',
    nextPerSecond: next?.perSecond ?? Number.POSITIVE_INFINITY,
  }
}
