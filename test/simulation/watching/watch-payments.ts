import { isDeepStrictEqual } from 'node:util'
import { referencePk } from '../../../shared/table/keys.ts'
import { type RawItem, text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { watchClocks } from './row-write.ts'
import { APART_MS, isRewritten, type Rule, setMoved, type Write, watchRules } from './rules.ts'

/** What the writer has asked the provider about, and was answered; and how far clocks are apart in this history. */
type PaymentWrite = Write & {
  readonly hasAskedAbout: (providerId: string) => boolean
  readonly apartMs: number
}

type Attempt = { readonly number: number; readonly outcome: string; readonly code?: string }

const attemptsOf = (item: RawItem) => (item['provider_attempts'] ?? []) as readonly Attempt[]

const rememberedOf = (item: RawItem) => [...((item['remembered_provider_payment_ids'] ?? new Set()) as Set<string>)]

const isTakeOver = ({ before, after }: Write) => after['attempt'] !== before['attempt']

/** By more than clocks differ. */
const isUnderLease = ({ before, nowMs }: Write) =>
  before['lease_until'] !== undefined && Date.parse(text(before, 'lease_until')) > nowMs + APART_MS

const referenceOf = ({ world, after }: Write) =>
  world.provider.requestAsItStands(text(after, 'payment_request_id'))?.request.reference_id

/** A payment is due for a look at any time until it ends; a create as long as a worker must look. */
const isDue = (item: RawItem) => item['work'] === 'payment' && item['due_at'] !== undefined

/** One more than it did. */
const isRemembering = (write: Write) => setMoved(write, 'remembered_provider_payment_ids').added.length > 0

const LEASE_MS = 30_000
/** A lease that was read may have been released since. */
const leaseEndMs = ({ after, nowMs }: Write) => Math.max(nowMs + LEASE_MS, Date.parse(text(after, 'lease_until')) || 0)

const whileCreating: readonly Rule<PaymentWrite>[] = [
  [
    'counts its attempts wrong',
    ({ before, after }) => ![0, 1].includes(Number(after['attempt']) - Number(before['attempt'])),
  ],
  ['is taken over under a live lease', (write) => isTakeOver(write) && isUnderLease(write)],
  [
    'forgets how an attempt ended',
    ({ before, after }) =>
      attemptsOf(before).some(({ number, outcome, code }) => {
        const now = attemptsOf(after).find((attempt) => attempt.number === number)
        return outcome !== 'started' && now !== undefined && (now.outcome !== outcome || now.code !== code)
      }),
  ],
  [
    'forgets that something may be there upstream',
    ({ before, after }) => before['may_exist_upstream'] === true && after['may_exist_upstream'] !== true,
  ],
  [
    'takes other words although something may be there upstream',
    ({ before, after }) =>
      !isDeepStrictEqual(before['request'], after['request']) &&
      (before['may_exist_upstream'] === true || attemptsOf(before).at(-1)?.outcome !== 'refused'),
  ],
  [
    'does not count an attempt that may be there upstream',
    (write) =>
      isTakeOver(write) &&
      attemptsOf(write.before).at(-1)?.outcome !== 'refused' &&
      write.after['may_exist_upstream'] !== true,
  ],
  [
    'has failed and keeps its lease',
    ({ after }) => after['failure'] !== undefined && after['lease_until'] !== undefined,
  ],
  ['remembers a capture that is not looked at', ({ after }) => rememberedOf(after).length > 0 && !isDue(after)],
  [
    'remembers a capture that is looked at long after its lease',
    (write) => isRemembering(write) && Date.parse(text(write.after, 'due_at')) > leaseEndMs(write) + APART_MS,
  ],
  [
    'is looked at later although it remembers a capture',
    (write) =>
      isTakeOver(write) &&
      rememberedOf(write.before).length > 0 &&
      text(write.after, 'due_at') > text(write.before, 'due_at'),
  ],
  [
    'may be deleted although something may be there upstream',
    ({ after }) =>
      after['ttl'] !== undefined &&
      (after['may_exist_upstream'] === true || attemptsOf(after).at(-1)?.outcome !== 'refused'),
  ],
]

const uponCommit: readonly Rule<PaymentWrite>[] = [
  [
    'shows the destination of another attempt',
    (write) => referenceOf(write) !== `${write.key.pk.slice('PAYMENT#'.length)}-${String(write.before['attempt'])}`,
  ],
  [
    'remembers a capture and is not looked at now',
    ({ after, nowMs }) => rememberedOf(after).length > 0 && Date.parse(text(after, 'due_at')) > nowMs + APART_MS,
  ],
]

const alwaysDue: Rule<PaymentWrite> = ['is not looked at', ({ after }) => !isDue(after)]

const whilePending: readonly Rule<PaymentWrite>[] = [
  alwaysDue,
  ['was cancelled at another time before', (write) => isRewritten(write, 'cancel_requested_at')],
  ['began to expire at another time before', (write) => isRewritten(write, 'expiry_started_at')],
  [
    'is looked at late although its merchant has asked for its cancel',
    ({ before, after, nowMs }) =>
      before['cancel_requested_at'] === undefined &&
      after['cancel_requested_at'] !== undefined &&
      Date.parse(text(after, 'due_at')) > nowMs + CANCEL_MS + APART_MS,
  ],
  [
    'is cancelled by its merchant past its time',
    ({ before, after, apartMs }) =>
      before['cancel_requested_at'] === undefined &&
      Date.parse(text(after, 'cancel_requested_at')) > Date.parse(text(after, 'expires_at')) + apartMs,
  ],
  [
    'begins to expire, and no worker has asked what became of its cancel',
    ({ before, after, hasAskedAbout }) =>
      before['expiry_started_at'] === undefined &&
      after['expiry_started_at'] !== undefined &&
      before['cancel_requested_at'] !== undefined &&
      !hasAskedAbout(text(after, 'payment_request_id')),
  ],
  [
    'is cancelled by its merchant although it has begun to expire',
    ({ before, after }) =>
      before['expiry_started_at'] !== undefined &&
      before['cancel_requested_at'] === undefined &&
      after['cancel_requested_at'] !== undefined,
  ],
]

/** Whatever becomes of the request that asks for a cancel, a worker looks within a minute. */
const CANCEL_MS = 60_000

const always: readonly Rule<PaymentWrite>[] = [
  ['does not list its newest attempt', ({ after }) => attemptsOf(after).at(-1)?.number !== Number(after['attempt'])],
  [
    'is there by another attempt than the one that ran',
    (write) => write.after['status'] !== 'creating' && isTakeOver(write),
  ],
  [
    'is not led to by its reference, in its own part',
    ({ world, key, before, after }) =>
      before['status'] === 'creating' &&
      after['status'] !== 'creating' &&
      text(after, 'external_reference') !== '' &&
      !world.table.item({
        pk: referencePk(text(after, 'owner'), text(after, 'external_reference')),
        sk: key.pk.replace('PAYMENT#', ''),
      }),
  ],
  [
    'is credited with money that is not what was asked for',
    (write) => write.before['status'] !== 'succeeded' && write.after['status'] === 'succeeded' && !isCaptured(write),
  ],
  [
    'fails to be created although it is there',
    ({ before, after }) =>
      before['status'] !== 'creating' && before['failure'] === undefined && after['failure'] !== undefined,
  ],
  [
    'remembers a capture although it is there',
    (write) => write.before['status'] !== 'creating' && isRemembering(write),
  ],
  [
    'forgets a capture that was not asked about',
    ({ before, after, hasAskedAbout }) =>
      ['creating', 'pending'].includes(text(after, 'status')) &&
      rememberedOf(before).some((id) => !rememberedOf(after).includes(id) && !hasAskedAbout(id)),
  ],
  ['has ended and is looked at all the same', ({ after }) => hasEnded(after) && isDue(after)],
  [
    'has ended and takes wishes',
    (write) =>
      hasEnded(write.before) &&
      ['cancel_requested_at', 'expiry_started_at'].some((name) => write.before[name] !== write.after[name]),
  ],
  [
    'succeeds under the lease of an attempt',
    (write) => write.before['status'] === 'creating' && write.after['status'] === 'succeeded' && isUnderLease(write),
  ],
]

/** The provider has taken just that. */
const isCaptured = ({ world, after }: Write): boolean =>
  world.provider
    .capturedPayments()
    .some(({ id, amount }) => id === after['credited_provider_payment_id'] && amount === after['notional_minor'])

const hasEnded = (item: RawItem) => !['creating', 'pending'].includes(text(item, 'status'))

const rulesFor = (before: RawItem, after: RawItem): readonly Rule<PaymentWrite>[] => {
  switch (`${text(before, 'status')} ${text(after, 'status')}`) {
    case 'creating creating':
      return [...whileCreating, ...always]
    case 'creating pending':
      return [...uponCommit, alwaysDue, ...always]
    case 'pending pending':
      return [...whilePending, ...always]
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
    asked.set(process, (asked.get(process) ?? new Set()).add(id))
  })

  const apartMs = watchClocks(world)

  watchRules(world, seen, ({ sk }, write) => {
    const { before, after, isNew, acting } = write
    // What time may delete is claimed anew as if there were nothing.
    const isAnew = before['status'] === 'creating' && before['ttl'] !== undefined && after['attempt'] === 1
    if (sk !== 'PAYMENT' || isNew || isAnew) return []
    // What goes on in the environment of another has asked under its own name.
    const isShared = acting !== undefined && world.sharing.has(acting)
    const hasAskedAbout = (id: string) => isShared || (acting !== undefined && asked.get(acting)?.has(id) === true)
    const known = { hasAskedAbout, apartMs: apartMs() }
    return rulesFor(before, after).map(([what, isBroken]) => [what, () => isBroken({ ...write, ...known })])
  })
}
