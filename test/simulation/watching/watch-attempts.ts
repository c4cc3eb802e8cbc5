import { type RawItem, text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { deliveryRow, deliveryStatus } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import {
  broken,
  brokenOf,
  isChanged,
  ms,
  onGoodEnd,
  onWorkersWrite,
  type Rules,
  type WorkersWrite,
  watchClocks,
} from './rules.ts'

type Claim = {
  readonly token: string
  readonly worker: Process
  readonly startedMs: number
  readonly untilMs: number
  hasPosted: boolean
}

/** A claim, or the attempt that it was for. */
type Write = WorkersWrite & { readonly claim: Claim | undefined }

/** Of a POST, from the first byte to the last. */
const POST_MS = 10_000
/** Waits after the first, second, ... failure of a round (spec 6.4). */
const WAITS_MS = [60, 120, 240, 480, 960, 1_920, 3_840].map((seconds) => seconds * 1_000)

const uponClaim: Rules<Write> = {
  'is claimed although it has ended': ({ before }) => deliveryStatus(before) !== 'scheduled',
  'is claimed over another claim': ({ before }) => before['claim_token'] !== undefined,
  'is claimed before its time': ({ before, nowMs, apartMs }) => ms(before, 'next_attempt_at') > nowMs + apartMs,
  'is claimed for less time than an attempt takes': ({ after, startedMs, apartMs }) =>
    ms(after, 'claimed_until') < startedMs + POST_MS - apartMs / 2,
  'is claimed for ever': ({ after, nowMs, apartMs }) => ms(after, 'claimed_until') > nowMs + 60_000 + apartMs,
}

const uponResult: Rules<Write> = {
  'has its attempt noted by another worker under a live claim': ({ before, claim, worker, nowMs, apartMs }) =>
    claim !== undefined && claim.worker !== worker && ms(before, 'claimed_until') > nowMs + apartMs,
  'has its attempt noted although it was not made': ({ claim, worker, after }) =>
    claim?.worker === worker && !claim.hasPosted && deliveryStatus(after) === 'succeeded',
}

/** Checked at every claim, POST and result: an attempt is claimed once, posted once, and noted by its claimer. */
export const watchAttempts = (world: World, seen: Observations): void => {
  const apartMs = watchClocks(world)
  /** The last of each delivery. */
  const claims = new Map<string, Claim>()
  /** The last of each worker, by delivery: for others it may have run out. */
  const owned = new WeakMap<Process, Map<string, Claim>>()
  const report = (id: string, what: string) => void seen.problems.push(`delivery ${id} ${what}`)

  const onClaim = (id: string, write: Write) => {
    const { after, worker } = write
    for (const what of broken(uponClaim, write)) report(id, what)
    const [token, untilMs] = [text(after, 'claim_token'), ms(after, 'claimed_until')]
    const claim = { token, worker, startedMs: write.startedMs, untilMs, hasPosted: false }
    claims.set(id, claim)
    owned.set(worker, (owned.get(worker) ?? new Map<string, Claim>()).set(id, claim))
  }

  onWorkersWrite(world, / (DELIVERY$|ATTEMPT#)/, (row) => {
    const { key, after, isNew } = row
    if (key.sk !== 'DELIVERY' && !isNew) seen.problems.push(`${key.pk} ${key.sk} was written over`)
    if (key.sk !== 'DELIVERY' || isNew) return
    const id = text(after, 'delivery_id')
    const write: Write = { ...row, claim: claims.get(id) }
    if (after['claim_token'] !== undefined && isChanged(row, 'claim_token')) onClaim(id, write)
    if (!isChanged(row, 'attempts')) return
    for (const what of [...broken(uponResult, write), ...resultProblems(world, write)]) report(id, what)
  })

  world.onPost.push(({ url, headers }, worker) => {
    const id = headers['X-Gateway-Delivery-Id'] ?? ''
    const row = deliveryRow(world, id)
    const claim = owned.get(worker)?.get(id)
    if (claim === undefined) return report(id, 'is posted by a worker that has not claimed it')
    const nowMs = world.scheduler.nowMs()
    if (claim.token !== row?.['claim_token'] && nowMs < claim.untilMs - apartMs())
      report(id, 'is posted under a claim that was taken away')
    if (claim.hasPosted) report(id, 'is posted twice under one claim')
    if (url !== row?.['url']) report(id, 'is posted elsewhere')
    if (claim.untilMs < nowMs - apartMs()) report(id, 'is posted after the end of its claim')
    claim.hasPosted = true
  })

  onGoodEnd(world, (process) => {
    for (const [id, { worker, token }] of claims) {
      const isLeft = worker === process && deliveryRow(world, id)?.['claim_token'] === token
      if (isLeft) report(id, 'stays claimed by a worker that has come to its end')
    }
  })

  watchOutcomes(world, seen)
}

const attemptOf = (world: World, pk: string, number: number): RawItem | undefined =>
  world.table.item({ pk, sk: `ATTEMPT#${String(number).padStart(8, '0')}` })

/** Lost with its worker: it is unknown what the endpoint answered. */
const isLostAttempt = (attempt: RawItem | undefined): boolean =>
  attempt?.['error'] === 'unknown' && attempt['duration_ms'] === 0

/** The row of an attempt. One whose worker died failed when it was made; the next is due at once, a third one waits. */
const resultProblems = (world: World, { key, after, claim, worker, nowMs, apartMs }: Write): readonly string[] => {
  const number = Number(after['attempts'])
  const held = after['success'] as RawItem | undefined
  const attempt = held?.['number'] === number ? held : attemptOf(world, key.pk, number)
  if (attempt === undefined) return ['has an attempt without a row']
  const isLost = isLostAttempt(attempt)
  const hasFailed = attempt['error'] !== undefined
  const ofRound = number - Number(after['round_start'])
  const isRepeated = ofRound > 1 && isLostAttempt(attemptOf(world, key.pk, number - 1))
  const waitMs = isLost && !isRepeated ? 0 : (WAITS_MS[ofRound - 1] ?? 0)
  const [atMs, nextMs] = [ms(attempt, 'at'), ms(after, 'next_attempt_at')]
  const goesOn = after['status'] === 'scheduled'
  const endedMs = atMs + Number(attempt['duration_ms'])
  const latestMs = isLost ? Math.max(atMs + waitMs, nowMs) : nowMs + waitMs
  return brokenOf({
    'has the answer to an attempt noted by another worker': !isLost && claim?.worker !== worker,
    'succeeds by an attempt that has failed': !goesOn && hasFailed && after['status'] !== 'abandoned',
    'goes on although its attempt delivered': goesOn && !hasFailed,
    'is attempted again before its wait is over': goesOn && nextMs < endedMs + waitMs,
    'waits for longer than it must': goesOn && nextMs > latestMs + apartMs,
    'was attempted in the future': atMs > nowMs + apartMs,
    'was attempted before its worker began': claim !== undefined && atMs < claim.startedMs - apartMs,
  })
}

const OUTCOME = /^delivery\.(succeeded|failed|abandoned)$/

/** Checked at every line of a log: the outcome of an attempt is said once, by the worker that has written it. */
const watchOutcomes = (world: World, seen: Observations): void => {
  const said = new Set<string>()
  /** Attempts that a worker has written down, and what the delivery is since. */
  const noted = new WeakMap<Process, Map<string, string>>()
  const report = (attempt: string, what: string) => void seen.problems.push(`attempt ${attempt} ${what}`)

  onWorkersWrite(world, / DELIVERY$/, (write) => {
    const { key, after, isNew, worker } = write
    if (isNew || !isChanged(write, 'attempts')) return
    const own = noted.get(worker) ?? new Map<string, string>()
    const attempt = `${key.pk.slice('DELIVERY#'.length)} ${String(after['attempts'])}`
    const outcome = deliveryStatus(after)
    noted.set(worker, own.set(attempt, outcome === 'scheduled' ? 'failed' : outcome))
  })

  world.onLine.push((process, code, fields) => {
    const [, outcome] = OUTCOME.exec(code) ?? []
    if (outcome === undefined) return
    const attempt = `${String(fields['delivery_id'])} ${String(fields['attempt'])}`
    if (noted.get(process)?.get(attempt) !== outcome)
      report(attempt, `is said to have ${outcome}, which is not written`)
    if (said.has(attempt)) report(attempt, 'has its outcome said twice')
    said.add(attempt)
  })

  onGoodEnd(world, (process) => {
    for (const attempt of noted.get(process)?.keys() ?? [])
      if (!said.has(attempt)) report(attempt, 'has an outcome that no line says')
  })
}
