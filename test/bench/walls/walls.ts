import { queuesOf } from '../../../functions/function-spec.ts'
import { type DeployedStage, loadOf } from '../../../infra/stack/stage.ts'
import { markdownTable } from '../../support/markdown-table.ts'
import { QUOTA_STAGES } from '../../support/stage-options.ts'
import { measuredOn } from '../measured-on.ts'
import { specOf } from '../metered-world.ts'
import { auditStation, clientStations, stationsOf } from './stations.ts'
import {
  type Load,
  measureUse,
  measureWorkers,
  ROWS_A_PAGE,
  runSingles,
  type SinglesFigures,
  type Use,
  type WorkerSpeeds,
} from './walls-world.ts'

type FlowModel = { readonly paid: Use; readonly unpaid: Use; readonly speeds: WorkerSpeeds }

export async function wallsReport() {
  const paid = await measureUse({ paid: true, callbacks: true })
  const paidLost = await measureUse({ paid: true, callbacks: false })
  const unpaid = await measureUse({ paid: false, callbacks: true })
  const unpaidLost = await measureUse({ paid: false, callbacks: false })
  const uses = {
    paid,
    'paid, callback lost': paidLost,
    unpaid,
    'unpaid, callback lost': unpaidLost,
  }
  const speeds = await measureWorkers()
  const model = { paid: worse(paid, paidLost), unpaid: worse(unpaid, unpaidLost), speeds }
  const singles: (readonly string[])[] = []
  const walls = wallsOf(model)
  const failures = walls.flatMap(earlyWall)
  for (const { says, ...load } of loadsFor(paidLost.earlyRows)) {
    const figures = await runSingles(load)
    singles.push(singlesRow(figures, says))
    failures.push(
      ...modelDifferences(figures, listingWall(load.callsPerMinute, paidLost.earlyRows)),
    )
  }
  const text = [
    measuredOn('npm run bench -- walls'),
    markdownTable(
      ['Quota', 'Payments', 'A second, for ever', 'First wall', 'The next one'],
      walls.map(wallRow),
    ),
    stationTable(),
    markdownTable(
      ['A payment', 'Calls', 'Rows read in its life', 'in its first hour'],
      Object.entries(uses).map(useRow),
    ),
    speedText(speeds),
    markdownTable(
      'Calls a minute,Payments a second,Paid,Payments,Backlog by thirds,By the model'.split(','),
      singles,
    ),
  ]
  return { text: text.join('\n\n'), failures }
}

/** The model must hold although any callback may be lost. */
function worse(first: Use, second: Use): Use {
  const names = Object.keys({ ...first.calls, ...second.calls })
  const most = names.map((name) => [
    name,
    Math.max(first.calls[name] ?? 0, second.calls[name] ?? 0),
  ])
  const [rows, earlyRows] = [
    Math.max(first.rows, second.rows),
    Math.max(first.earlyRows, second.earlyRows),
  ]
  return { calls: Object.fromEntries(most), rows, earlyRows }
}

const MIXES = [
  ['paid', 1],
  ['unpaid', 0],
  ['mixed, half of each', 0.5],
] as const

function wallsOf(model: FlowModel) {
  return QUOTA_STAGES.flatMap(([factor, stage]) =>
    MIXES.map(([mix, paidPart]) => ({ factor, mix, ...modelWall(model, stage, paidPart) })),
  )
}

function modelWall(model: FlowModel, stage: DeployedStage, paidPart: number) {
  // The rate is infinite for a station that no payment uses.
  const asked = stations(model, stage).map(({ name, capacity, paid, unpaid }) => ({
    name,
    perSecond: capacity / 60 / (paid * paidPart + unpaid * (1 - paidPart)),
  }))
  // The stations of AWS count a payment's whole use, whenever it comes.
  const walls = [...asked, ...stationsOf(stage)].toSorted((a, b) => a.perSecond - b.perSecond)
  const [first] = walls
  if (first === undefined) throw new Error('nothing is bounded')
  const isTogether = ({ perSecond }: typeof first) => perSecond <= first.perSecond * 1.01
  // If several limits are reached together, the create is named, because everything else waits for
  // it.
  const create = walls.find(
    (wall) => isTogether(wall) && wall.name === 'the quota of `POST /v3/payment_requests`',
  )
  const next = walls.find((wall) => !isTogether(wall))
  const nextText = `${next?.name ?? ''}: ${rounded(next?.perSecond ?? Infinity)}`
  return { perSecond: first.perSecond, first: (create ?? first).name, next: nextText }
}

/**
 * The provider's quotas and the workers: what each station does in a minute, and what a payment
 * needs of it.
 */
function stations({ paid, unpaid, speeds }: FlowModel, stage: DeployedStage) {
  const { callsPerMinute: quota } = loadOf(stage)
  const operations = Object.keys({ ...paid.calls, ...unpaid.calls })
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
      // A run lists for four of five minutes, and starts the other workers after twenty seconds.
      capacity: listingWorkers(stage) * (220 / 300) * speeds.pages * 60 * ROWS_A_PAGE,
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

/** The schedule's own run reads as well. */
function listingWorkers(stage: DeployedStage) {
  return workersOf('sync-slices', stage) + 1
}

function workersOf(name: string, stage: DeployedStage) {
  const [source] = queuesOf(specOf(name).trigger, loadOf(stage))
  if (!source) throw new Error(`${name} has no queue`)
  return source.maxConcurrency
}

function dueWorkers(stage: DeployedStage) {
  return workersOf('check-due-payments', stage)
}

function rounded(value: number) {
  const parts = value < 10 ? 100 : 1
  return Number.isFinite(value) ? String(Math.round(value * parts) / parts) : 'none'
}

const PUBLISHED = 600

type Wall = ReturnType<typeof wallsOf>[number]

/** At every quota, the quota of the create must be the first limit of the rate. */
function earlyWall({ factor, mix, perSecond, first }: Wall) {
  return perSecond > ((PUBLISHED * factor) / 60) * 0.99
    ? []
    : [
        `${mix} payments end at ${rounded(perSecond)} a second at ${factor} times the quota: ${first}`,
      ]
}

/** The quotas are so small that payments are made singly. */
function loadsFor(earlyRows: number): readonly (Load & { readonly says: string })[] {
  const below = { callbacks: true, says: '0.9 of the create: nothing waits' }
  const listing = { callsPerMinute: 3, paidPart: 1, minutes: 36, callbacks: false }
  const wall = listingWall(listing.callsPerMinute, earlyRows)
  return [
    ...[1, 0, 0.5].map((paidPart) => ({
      callsPerMinute: 60,
      perSecond: 0.9,
      paidPart,
      minutes: 30,
      ...below,
    })),
    { callsPerMinute: PUBLISHED, perSecond: 9, paidPart: 0.5, minutes: 10, ...below },
    { ...listing, perSecond: 0.75 * wall, says: 'callbacks lost, 0.75 of listing: it stays' },
    { ...listing, perSecond: 1.5 * wall, says: 'callbacks lost, 1.5 of listing: it grows' },
  ]
}

/** Payments a second whose rows the quota allows the sync to read in their first hour. */
function listingWall(quota: number, earlyRows: number) {
  return (quota * ROWS_A_PAGE) / 60 / earlyRows
}

function singlesRow(figures: SinglesFigures, says: string) {
  const { callsPerMinute, perSecond, paidPart, minutes, payments, backlog } = figures
  const third = (part: number) =>
    Math.max(...backlog.slice((minutes * part) / 3, (minutes * (part + 1)) / 3))
  const numbers = [callsPerMinute, perSecond, paidPart].map(rounded)
  return [...numbers, String(payments), [0, 1, 2].map(third).join(', '), says]
}

/** Nothing waits below the create's limit, and a backlog grows above listing's. */
function modelDifferences({ callbacks, perSecond, backlog }: SinglesFigures, listing: number) {
  const [middle = 0, last = 0] = [backlog[Math.floor(backlog.length / 2)], backlog.at(-1)]
  const [grows, isAbove] = [last > middle, perSecond > listing]
  const fits = callbacks ? Math.max(...backlog) === 0 : grows === isAbove
  return fits
    ? []
    : [
        `single payments at ${rounded(perSecond)} a second left a backlog of ${middle}, then ${last}`,
      ]
}

function wallRow({ factor, mix, perSecond, first, next }: Wall) {
  return [`${factor} ×`, mix, rounded(perSecond), first, next]
}

const FACTORS = QUOTA_STAGES.map(([factor]) => `${factor} ×`)

function stationTable() {
  const stages = QUOTA_STAGES.map(([, stage]) =>
    [...stationsOf(stage), auditStation(stage), ...clientStations()].map(
      ({ name, perSecond }) => [name, perSecond] as const,
    ),
  )
  const rows = stages[0]?.map(([name]) => {
    const carried = stages.map((carries) => new Map(carries).get(name) ?? Infinity)
    return [name, ...carried.map(rounded)]
  })
  return markdownTable(['Station, payments a second', ...FACTORS], rows ?? [])
}

function useRow([name, { calls, rows, earlyRows }]: readonly [string, Use]) {
  const counts = Object.entries(calls).map(([operation, count]) => `${operation} ${rounded(count)}`)
  return [name, counts.join(', '), rounded(rows), rounded(earlyRows)]
}

function speedText({ dueItems, pages }: WorkerSpeeds) {
  return `One worker brings ${rounded(dueItems)} unpaid payments a second to their end, and there are ${workersAtEach(dueWorkers)}; one lists ${rounded(pages)} pages a second for 220 s of 300, and there are ${workersAtEach(listingWorkers)}.`
}

function workersAtEach(workers: (stage: DeployedStage) => number) {
  return `${QUOTA_STAGES.map(([, stage]) => workers(stage)).join(', ')} (${FACTORS.join(', ')} the quota)`
}
