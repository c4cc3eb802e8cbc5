import { type RawItem, text } from '../../support/recount/books.ts'
import { WAITS_MS } from '../../support/recount/delivery-books.ts'
import type { Process } from '../world/process.ts'
import { deliveryRow, deliveryStatus } from '../world/rows.ts'
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
} from '../world/rules.ts'
import type { World } from '../world/world.ts'

type Claim = { readonly token: string; readonly worker: Process; readonly untilMs: number; hasPosted: boolean }

/** A write that claims an attempt, or that records its result. */
type Write = WorkersWrite & { readonly claim: Claim | undefined }

/** Of a POST, from the first byte to the last. */
const POST_MS = 10_000

const uponClaim: Rules<Write> = {
  'is claimed after its end': ({ before }) => deliveryStatus(before) !== 'scheduled',
  'is claimed over another claim': ({ before }) => before['claim_token'] !== undefined,
  'is claimed before its time': ({ before, nowMs, apartMs }) => ms(before, 'next_attempt_at') > nowMs + apartMs,
  'is claimed for less than a POST may take': ({ after, startedMs, apartMs }) =>
    ms(after, 'claimed_until') < startedMs + POST_MS - apartMs / 2,
  'is claimed for more than a minute': ({ after, nowMs, apartMs }) =>
    ms(after, 'claimed_until') > nowMs + 60_000 + apartMs,
}

const uponResult: Rules<Write> = {
  'has its attempt recorded by another worker while the claim is valid': ({ before, claim, worker, nowMs, apartMs }) =>
    claim !== undefined && claim.worker !== worker && ms(before, 'claimed_until') > nowMs + apartMs,
  'has a success recorded without a POST': ({ claim, worker, after }) =>
    claim?.worker === worker && !claim.hasPosted && deliveryStatus(after) === 'succeeded',
}

/** Checked at every claim, POST and result: an attempt is claimed once, posted once, and recorded by its claimer. */
export const watchAttempts = (world: World): void => {
  const apartMs = watchClocks(world)
  /** The last claim of each delivery. */
  const claims = new Map<string, Claim>()
  /** The last claim that each worker made, by delivery. For others it may have expired. */
  const owned = new WeakMap<Process, Map<string, Claim>>()
  const report = (id: string, what: string) => void world.problems.push(`delivery ${id} ${what}`)

  const onClaim = (id: string, write: Write) => {
    const { after, worker } = write
    for (const what of broken(uponClaim, write)) report(id, what)
    const [token, untilMs] = [text(after, 'claim_token'), ms(after, 'claimed_until')]
    const claim = { token, worker, untilMs, hasPosted: false }
    claims.set(id, claim)
    owned.set(worker, (owned.get(worker) ?? new Map<string, Claim>()).set(id, claim))
  }

  onWorkersWrite(world, / (DELIVERY$|ATTEMPT#)/, (row) => {
    const { key, after, isNew } = row
    if (key.sk !== 'DELIVERY' && !isNew) world.problems.push(`${key.pk} ${key.sk} was written over`)
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
    if (claim === undefined) return report(id, 'is posted by a worker without a claim')
    const nowMs = world.scheduler.nowMs()
    if (claim.token !== row?.['claim_token'] && nowMs < claim.untilMs - apartMs())
      report(id, 'is posted under a claim that another worker has replaced')
    if (claim.hasPosted) report(id, 'is posted twice under one claim')
    if (url !== row?.['url']) report(id, 'is posted to another URL than its own')
    if (claim.untilMs < nowMs - apartMs()) report(id, 'is posted after the end of its claim')
    claim.hasPosted = true
  })

  onGoodEnd(world, (process) => {
    for (const [id, { worker, token }] of claims) {
      const isLeft = worker === process && deliveryRow(world, id)?.['claim_token'] === token
      if (isLeft) report(id, 'stays claimed after its worker ended')
    }
  })

  watchOutcomes(world)
}

const attemptOf = (world: World, pk: string, number: number): RawItem | undefined =>
  world.table.item({ pk, sk: `ATTEMPT#${String(number).padStart(8, '0')}` })

/** Its worker died, so the endpoint's answer is unknown. */
const isLostAttempt = (attempt: RawItem | undefined): boolean =>
  attempt?.['error'] === 'unknown' && attempt['duration_ms'] === 0

/** The row of an attempt. A lost one failed when it was made; the next one is due at once, but a third one waits. */
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
    'has an answer recorded by another worker than its claimer': !isLost && claim?.worker !== worker,
    'succeeds by a failed attempt': !goesOn && hasFailed && after['status'] !== 'abandoned',
    'goes on after a successful attempt': goesOn && !hasFailed,
    'plans its next attempt before the wait is over': goesOn && nextMs < endedMs + waitMs,
    'plans its next attempt too late': goesOn && nextMs > latestMs + apartMs,
  })
}

const OUTCOME = /^delivery\.(succeeded|failed|abandoned)$/

/** Checked at every log line: the worker that recorded an attempt logs its outcome, once. */
const watchOutcomes = (world: World): void => {
  const logged = new Set<string>()
  /** Attempts that a worker has recorded, and the delivery's status since then. */
  const recorded = new WeakMap<Process, Map<string, string>>()
  const report = (attempt: string, what: string) => void world.problems.push(`attempt ${attempt} ${what}`)

  onWorkersWrite(world, / DELIVERY$/, (write) => {
    const { key, after, isNew, worker } = write
    if (isNew || !isChanged(write, 'attempts')) return
    const own = recorded.get(worker) ?? new Map<string, string>()
    const attempt = `${key.pk.slice('DELIVERY#'.length)} ${String(after['attempts'])}`
    const outcome = deliveryStatus(after)
    recorded.set(worker, own.set(attempt, outcome === 'scheduled' ? 'failed' : outcome))
  })

  world.onLine.push((process, code, fields) => {
    const [, outcome] = OUTCOME.exec(code) ?? []
    if (outcome === undefined) return
    const attempt = `${String(fields['delivery_id'])} ${String(fields['attempt'])}`
    if (recorded.get(process)?.get(attempt) !== outcome) report(attempt, `is logged as ${outcome}, but not recorded so`)
    if (logged.has(attempt)) report(attempt, 'has its outcome logged twice')
    logged.add(attempt)
  })

  onGoodEnd(world, (process) => {
    for (const attempt of recorded.get(process)?.keys() ?? [])
      if (!logged.has(attempt)) report(attempt, 'has an outcome that no line logs')
  })
}
