import { isDeepStrictEqual } from 'node:util'
import { referencePk } from '../../../shared/table/keys.ts'
import { type RawItem, text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { addTo, type World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import {
  APART_MS,
  becomes,
  broken,
  isChanged,
  isGiven,
  movesOtherwise,
  ms,
  onWrite,
  type Rules,
  rewrites,
  type Write,
} from './rules.ts'

/** What the writer has asked the provider about, and was answered. */
type PaymentWrite = Write & { readonly hasAskedAbout: (providerId: string) => boolean }

type Attempt = { readonly number: number; readonly outcome: string; readonly code?: string }

const attemptsOf = (item: RawItem) => (item['provider_attempts'] ?? []) as readonly Attempt[]

const rememberedOf = (item: RawItem) => [...((item['remembered_provider_payment_ids'] ?? new Set()) as Set<string>)]
const hasEnded = (item: RawItem) => !['creating', 'pending'].includes(text(item, 'status'))
const isTakeOver = (write: Write) => isChanged(write, 'attempt')
/** It may have been made at the provider. */
const mayExist = (item: RawItem) => item['may_exist_upstream'] === true
const wasRefused = (item: RawItem) => attemptsOf(item).at(-1)?.outcome === 'refused'

/** By more than clocks differ. */
const isUnderLease = ({ before, nowMs }: Write) => ms(before, 'lease_until') > nowMs + APART_MS

const referenceOf = ({ world, after }: Write) =>
  world.provider.storedRequest(text(after, 'payment_request_id'))?.request.reference_id

/** A payment may be due at any time until it ends; a create while a worker must check it. */
const isDue = (item: RawItem) => item['work'] === 'payment' && item['due_at'] !== undefined

/** One more than it did. */
const isRemembering = ({ before, after }: Write) => {
  const known = rememberedOf(before)
  return rememberedOf(after).some((id) => !known.includes(id))
}

const LEASE_MS = 30_000
/** A lease that was read may have been released since. */
const leaseEndMs = ({ after, nowMs }: Write) => Math.max(nowMs + LEASE_MS, ms(after, 'lease_until') || 0)

const whileCreating: Rules<PaymentWrite> = {
  'counts its attempts wrong': movesOtherwise('attempt', 0, 1),
  'is taken over under a live lease': (write) => isTakeOver(write) && isUnderLease(write),
  'forgets how an attempt ended': ({ before, after }) =>
    attemptsOf(before).some(({ number, outcome, code }) => {
      const now = attemptsOf(after).find((attempt) => attempt.number === number)
      return outcome !== 'started' && now !== undefined && (now.outcome !== outcome || now.code !== code)
    }),
  'forgets that something may be there upstream': ({ before, after }) => mayExist(before) && !mayExist(after),
  'takes other words although something may be there upstream': ({ before, after }) =>
    !isDeepStrictEqual(before['request'], after['request']) && (mayExist(before) || !wasRefused(before)),
  'does not count an attempt that may be there upstream': (write) =>
    isTakeOver(write) && !wasRefused(write.before) && !mayExist(write.after),
  'has failed and keeps its lease': ({ after }) => after['failure'] !== undefined && after['lease_until'] !== undefined,
  'remembers a capture that is not looked at': ({ after }) => rememberedOf(after).length > 0 && !isDue(after),
  'remembers a capture that is looked at long after its lease': (write) =>
    isRemembering(write) && ms(write.after, 'due_at') > leaseEndMs(write) + APART_MS,
  'is looked at later although it remembers a capture': (write) =>
    isTakeOver(write) &&
    rememberedOf(write.before).length > 0 &&
    text(write.after, 'due_at') > text(write.before, 'due_at'),
  'may be deleted although something may be there upstream': ({ after }) =>
    after['ttl'] !== undefined && (mayExist(after) || !wasRefused(after)),
}

const uponCommit: Rules<PaymentWrite> = {
  'shows the destination of another attempt': (write) =>
    referenceOf(write) !== `${write.key.pk.slice('PAYMENT#'.length)}-${String(write.before['attempt'])}`,
  'remembers a capture and is not looked at now': ({ after, nowMs }) =>
    rememberedOf(after).length > 0 && ms(after, 'due_at') > nowMs + APART_MS,
}

const alwaysDue: Rules<PaymentWrite> = { 'is not looked at': ({ after }) => !isDue(after) }

/** Whatever becomes of the request that asks for a cancel, a worker looks within a minute. */
const CANCEL_MS = 60_000

const whilePending: Rules<PaymentWrite> = {
  ...alwaysDue,
  'was cancelled at another time before': rewrites('cancel_requested_at'),
  'began to expire at another time before': rewrites('expiry_started_at'),
  'is looked at late although its merchant has asked for its cancel': (write) =>
    isGiven(write, 'cancel_requested_at') && ms(write.after, 'due_at') > write.nowMs + CANCEL_MS + APART_MS,
  'is cancelled by its merchant past its time': ({ before, after, apartMs }) =>
    before['cancel_requested_at'] === undefined && ms(after, 'cancel_requested_at') > ms(after, 'expires_at') + apartMs,
  'begins to expire, and no worker has asked what became of its cancel': (write) =>
    isGiven(write, 'expiry_started_at') &&
    write.before['cancel_requested_at'] !== undefined &&
    !write.hasAskedAbout(text(write.after, 'payment_request_id')),
  'is cancelled by its merchant although it has begun to expire': (write) =>
    write.before['expiry_started_at'] !== undefined && isGiven(write, 'cancel_requested_at'),
}

const always: Rules<PaymentWrite> = {
  'does not list its newest attempt': ({ after }) => attemptsOf(after).at(-1)?.number !== Number(after['attempt']),
  'is there by another attempt than the one that ran': (write) =>
    write.after['status'] !== 'creating' && isTakeOver(write),
  'is not led to by its reference, in its own part': ({ world, key, before, after }) =>
    before['status'] === 'creating' &&
    after['status'] !== 'creating' &&
    text(after, 'external_reference') !== '' &&
    !world.table.item({
      pk: referencePk(text(after, 'owner'), text(after, 'external_reference')),
      sk: key.pk.replace('PAYMENT#', ''),
    }),
  'is credited with money that is not what was asked for': (write) =>
    becomes(write, 'status', 'succeeded') && !isCaptured(write),
  'fails to be created although it is there': (write) =>
    write.before['status'] !== 'creating' && isGiven(write, 'failure'),
  'remembers a capture although it is there': (write) => write.before['status'] !== 'creating' && isRemembering(write),
  'forgets a capture that was not asked about': ({ before, after, hasAskedAbout }) =>
    !hasEnded(after) && rememberedOf(before).some((id) => !rememberedOf(after).includes(id) && !hasAskedAbout(id)),
  'has ended and is looked at all the same': ({ after }) => hasEnded(after) && isDue(after),
  'has ended and takes wishes': (write) =>
    hasEnded(write.before) && ['cancel_requested_at', 'expiry_started_at'].some((name) => isChanged(write, name)),
  'succeeds under the lease of an attempt': (write) =>
    write.before['status'] === 'creating' && write.after['status'] === 'succeeded' && isUnderLease(write),
}

/** The provider has taken just that. */
const isCaptured = ({ world, after }: Write): boolean =>
  world.provider
    .capturedPayments()
    .some(({ id, amount }) => id === after['credited_provider_payment_id'] && amount === after['notional_minor'])

const rulesFor = (before: RawItem, after: RawItem): Rules<PaymentWrite> => {
  switch (`${text(before, 'status')} ${text(after, 'status')}`) {
    case 'creating creating':
      return { ...whileCreating, ...always }
    case 'creating pending':
      return { ...uponCommit, ...alwaysDue, ...always }
    case 'pending pending':
      return { ...whilePending, ...always }
    default:
      return always
  }
}

const ASKED = /^\/v3\/(?:payments|payment_requests)\/([^/]+)$/

/** Checked at every write to a payment: what design section 4 lets it do, also with others at work on it. */
export const watchPayments = (world: World, seen: Observations): void => {
  const asked = new WeakMap<Process, Set<string>>()
  world.onAnswered.push((process, { path, outcome }) => {
    const [, id] = ASKED.exec(path) ?? []
    if (id === undefined || outcome.kind !== 'answered' || ![200, 404].includes(outcome.status)) return
    addTo(asked, process, id)
  })

  onWrite(world, / PAYMENT$/, (write) => {
    const { before, after, isNew, worker } = write
    // A create that the table may delete is claimed again, as if it were missing.
    const isAnew = before['status'] === 'creating' && before['ttl'] !== undefined && after['attempt'] === 1
    if (isNew || isAnew) return
    // A process that continues in another's environment has asked under its own name.
    const isShared = worker !== undefined && world.sharing.has(worker)
    const hasAskedAbout = (id: string) => isShared || (worker !== undefined && asked.get(worker)?.has(id) === true)
    for (const what of broken(rulesFor(before, after), { ...write, hasAskedAbout }))
      seen.problems.push(`${write.key.pk} PAYMENT ${what}`)
  })
}
