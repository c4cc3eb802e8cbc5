import { isDeepStrictEqual } from 'node:util'
import { type RawItem, text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { APART_MS, becomes, broken, isChanged, isGiven, ms, onWrite, type Rules, type Write } from '../world/rules.ts'
import { addTo, type World } from '../world/world.ts'

/** `hasAskedAbout`: the provider answered the writer's question about a payment or request of its own. */
type PaymentWrite = Write & { readonly hasAskedAbout: (providerId: string) => boolean }

const rememberedOf = (item: RawItem) => [...((item['remembered_provider_payment_ids'] ?? new Set()) as Set<string>)]
const hasEnded = (item: RawItem) => !['creating', 'pending'].includes(text(item, 'status'))
const isTakeOver = (write: Write) => isChanged(write, 'attempt')
/** The provider may have a request of it. */
const mayExist = (item: RawItem) => item['may_exist_upstream'] === true
const wasRefused = (item: RawItem) =>
  ((item['provider_attempts'] ?? []) as readonly { readonly outcome: string }[]).at(-1)?.outcome === 'refused'

const referenceOf = ({ world, after }: Write) =>
  world.provider.storedRequest(text(after, 'payment_request_id'))?.request.reference_id

const isDue = (item: RawItem) => item['work'] === 'payment' && item['due_at'] !== undefined

const whileCreating: Rules<PaymentWrite> = {
  'forgets that the provider may have a request': ({ before, after }) => mayExist(before) && !mayExist(after),
  'takes another body although the provider may have a request': ({ before, after }) =>
    !isDeepStrictEqual(before['request'], after['request']) && (mayExist(before) || !wasRefused(before)),
  'is taken over without noting that the provider may have a request': (write) =>
    isTakeOver(write) && !wasRefused(write.before) && !mayExist(write.after),
  'remembers a capture and is not due': ({ after }) => rememberedOf(after).length > 0 && !isDue(after),
  'expires although the provider may have a request': ({ after }) =>
    after['ttl'] !== undefined && (mayExist(after) || !wasRefused(after)),
}

const uponCommit: Rules<PaymentWrite> = {
  'shows the destination of another attempt': (write) =>
    referenceOf(write) !== `${write.key.pk.slice('PAYMENT#'.length)}-${String(write.before['attempt'])}`,
}

const alwaysDue: Rules<PaymentWrite> = { 'is pending and not due': ({ after }) => !isDue(after) }

/** A worker checks a cancel within a minute, even if the function that was asked for it died. */
const CANCEL_MS = 60_000

const whilePending: Rules<PaymentWrite> = {
  ...alwaysDue,
  'is due late after its merchant requested a cancel': (write) =>
    isGiven(write, 'cancel_requested_at') && ms(write.after, 'due_at') > write.nowMs + CANCEL_MS + APART_MS,
  'has a cancel requested after its time': ({ before, after, apartMs }) =>
    before['cancel_requested_at'] === undefined && ms(after, 'cancel_requested_at') > ms(after, 'expires_at') + apartMs,
  'begins to expire before a worker asks what its cancel did': (write) =>
    isGiven(write, 'expiry_started_at') &&
    write.before['cancel_requested_at'] !== undefined &&
    !write.hasAskedAbout(text(write.after, 'payment_request_id')),
}

const always: Rules<PaymentWrite> = {
  'is credited with money that the provider did not capture in this amount': (write) =>
    becomes(write, 'status', 'succeeded') && !isCaptured(write),
  'forgets a capture before its worker asked about it': ({ before, after, hasAskedAbout }) =>
    !hasEnded(after) && rememberedOf(before).some((id) => !rememberedOf(after).includes(id) && !hasAskedAbout(id)),
}

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
export const watchPayments = (world: World): void => {
  const asked = new WeakMap<Process, Set<string>>()
  world.onAnswered.push((process, { path, outcome }) => {
    const [, id] = ASKED.exec(path) ?? []
    if (id === undefined || outcome.kind !== 'answered' || ![200, 404].includes(outcome.status)) return
    addTo(asked, process, id)
  })

  onWrite(world, / PAYMENT$/, (write) => {
    const { before, after, isNew, worker } = write
    // A create that expires may be claimed again, as if it were missing.
    const isAnew = before['status'] === 'creating' && before['ttl'] !== undefined && after['attempt'] === 1
    if (isNew || isAnew) return
    // The unfinished work of another process asked under that process's name.
    const isShared = worker !== undefined && world.sharing.has(worker)
    const hasAskedAbout = (id: string) => isShared || (worker !== undefined && asked.get(worker)?.has(id) === true)
    for (const what of broken(rulesFor(before, after), { ...write, hasAskedAbout }))
      world.problems.push(`${write.key.pk} PAYMENT ${what}`)
  })
}
