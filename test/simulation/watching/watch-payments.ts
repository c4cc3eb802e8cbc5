import { isDeepStrictEqual } from 'node:util'
import { captureOf, type RawItem, text } from '../../support/recount/books.ts'
import { ownRowsOf } from '../../support/recount/payment-books.ts'
import type { Process } from '../world/process.ts'
import {
  APART_MS,
  becomes,
  DAY_MS,
  isChanged,
  isGiven,
  isRewritten,
  ms,
  type Rules,
  type Write,
  watchRules,
} from '../world/rules.ts'
import { addTo, type World } from '../world/world.ts'

/** By process: the payments and requests about which the provider has answered it. */
const asked = new WeakMap<Process, Set<string>>()

const always: Rules = {
  'is credited with money that the provider did not capture in this amount': (write) =>
    becomes(write, 'status', 'succeeded') &&
    !write.world.provider
      .capturedPayments()
      .some(
        ({ id, amount }) =>
          id === captureOf(write.after) && amount === write.after['notional_minor'],
      ),
  'forgets a capture before its worker asked about it': (write) =>
    ['creating', 'pending'].includes(text(write.after, 'status')) &&
    rememberedOf(write.before).some(
      (id) => !rememberedOf(write.after).includes(id) && !hasAskedAbout(write, id),
    ),
}

const whileCreating: Rules = {
  'forgets that the provider may have a request': ({ before, after }) =>
    mayExist(before) && !mayExist(after),
  'takes another body although the provider may have a request': ({ before, after }) =>
    !isDeepStrictEqual(before['request'], after['request']) &&
    (mayExist(before) || mayBeSent(before)),
  'is taken over without noting that the provider may have a request': (write) =>
    isChanged(write, 'attempt') && mayBeSent(write.before) && !mayExist(write.after),
  'remembers a capture and is not due': ({ after }) =>
    rememberedOf(after).length > 0 && !isDue(after),
  'expires although the provider may have a request': ({ after }) =>
    after['ttl'] !== undefined && (mayExist(after) || mayBeSent(after)),
}

const uponCommit: Rules = {
  'shows the destination of another attempt': ({ world, key, before, after }) =>
    world.provider.storedRequest(text(after, 'payment_request_id'))?.request.reference_id !==
    `${key.pk.slice('PAYMENT#'.length)}-${String(before['attempt'])}`,
}

const alwaysDue: Rules = { 'is pending and not due': ({ after }) => !isDue(after) }

/** A worker checks a cancel within a minute, even if the function that was asked for it died. */
const CANCEL_MS = 60_000

const whilePending: Rules = {
  ...alwaysDue,
  'is due late after its merchant requested a cancel': (write) =>
    isGiven(write, 'cancel_requested_at') &&
    ms(write.after, 'due_at') > write.nowMs + CANCEL_MS + APART_MS,
  'has a cancel requested after its time': ({ world, before, after }) =>
    before['cancel_requested_at'] === undefined &&
    ms(after, 'cancel_requested_at') > ms(after, 'expires_at') + world.apartMs,
  'begins to expire before a worker asks what its cancel did': (write) =>
    isGiven(write, 'expiry_started_at') &&
    write.before['cancel_requested_at'] !== undefined &&
    !hasAskedAbout(write, text(write.after, 'payment_request_id')),
}

const BY_STATUS: Readonly<Record<string, Rules>> = {
  'creating creating': whileCreating,
  'creating pending': { ...uponCommit, ...alwaysDue },
  'pending pending': whilePending,
}

/** How long a payment waits for its settled row before its fee is assumed. */
export const HELD_MS = 7 * DAY_MS
/** How far off a machine's clock is at most. */
const CLOCK_MS = 10_000

/** The fee is what the provider's own row says, or its tariff. */
const feeRules: Rules = {
  'has an actual fee that the provider did not keep': (write) => {
    const { world, before, after } = write
    const row = settledRowOf(world, after)
    const isKept = row !== undefined && keptBy(row) === after['provider_fee_minor']
    return (
      world.providerFees === 'deducted' &&
      !isFinal(before) &&
      becomes(write, 'fee_status', 'actual') &&
      !isKept
    )
  },
  'has another final fee than its estimate, and the provider bills by the tariff': (write) =>
    write.world.providerFees === 'invoiced' &&
    isFinal(write.after) &&
    !isFinal(write.before) &&
    isRewritten(write, 'provider_fee_minor'),
  'has an assumed fee before seven days are over': (write) =>
    write.before['status'] === 'succeeded' &&
    becomes(write, 'fee_status', 'assumed') &&
    !isVoidedOpen(write.after) &&
    write.nowMs < ms(write.after, 'paid_at') + HELD_MS - CLOCK_MS,
}

/** What moved the money is what the provider's own rows say. */
const movementRules: Rules = {
  'notes another amount than its row moved': (write) =>
    newMovements(write).some((movement) => {
      const row = rowOf(write, movement)
      if (row === undefined) return false
      // A chargeback, and its void, include the provider's fee for it.
      const isDispute = movementsOf(write.after).some(
        ({ type, transactionId }) =>
          type === 'chargeback' && transactionId === movement.transactionId,
      )
      const feeMinor = isDispute ? row.fee.xendit_fee + row.fee.value_added_tax : 0
      return movement.amountMinor !== Math.abs(row.amount) - feeMinor
    }),
  'notes another gain at the provider than its rows have': (write) => {
    const gains = newMovements(write).filter(({ type }) => type !== 'reversal')
    return [...(isGiven(write, 'transaction_id') ? ownRowsOf(write.after) : []), ...gains].some(
      (one) => {
        const { cashflow, net_amount: net, net_amount_currency: currency } = rowOf(write, one) ?? {}
        // Of a net in another currency the amount counts.
        if (net === undefined || (currency !== undefined && currency !== 'IDR')) return false
        // A fee above the amount makes the net of money in negative.
        return (cashflow === 'MONEY_OUT' ? -Math.abs(net) : net) !== one.providerMinor
      },
    )
  },
}

/**
 * Checked at every write to a payment: what design section 4 allows, also while other workers
 * change the payment.
 */
export function watchPayments(world: World) {
  world.onAnswered.push((process, { path, outcome }) => {
    const [, id] = /^\/v3\/(?:payments|payment_requests)\/([^/]+)$/.exec(path) ?? []
    if (id !== undefined && outcome.kind === 'answered' && [200, 404].includes(outcome.status))
      addTo(asked, process, id)
  })

  watchRules(world, ({ sk }, { before, after, isNew }) => {
    if (sk !== 'PAYMENT') return undefined
    const [was, is] = [text(before, 'status'), text(after, 'status')]
    // A create that expires may be claimed again, as if it were missing.
    const isAnew = was === 'creating' && before['ttl'] !== undefined && after['attempt'] === 1
    const ofRows = is === '' || is === 'creating' ? {} : { ...feeRules, ...movementRules }
    return isNew || isAnew ? ofRows : { ...BY_STATUS[`${was} ${is}`], ...always, ...ofRows }
  })
}

export function settledRowOf({ provider }: World, payment: RawItem) {
  const found = provider.transactionRecords().find(
    ({ row }) =>
      row.type === 'PAYMENT' &&
      row.product_id === captureOf(payment) &&
      row.amount === payment['notional_minor'] &&
      row.currency === 'IDR' &&
      // A row that a scene booked beside the capture has no product data.
      row.product_data !== null,
  )
  return found?.settleAtMs === undefined ? found?.row : undefined
}

export function keptBy({
  amount: gross,
  net_amount: net,
}: NonNullable<ReturnType<typeof settledRowOf>>) {
  return gross - net
}

export function isFinal({ fee_status: status }: RawItem) {
  return status === 'actual' || status === 'assumed'
}

/** The payment's own row was voided before the posting: it has and needs no final fee. */
export function isVoidedOpen({ voided_open: isVoid }: RawItem) {
  return isVoid === true
}

function newMovements({ before, after }: Write) {
  return movementsOf(after).slice(movementsOf(before).length)
}

type Movement = {
  readonly type: string
  readonly transactionId: string
  readonly amountMinor: number
  readonly providerMinor: number
}

function movementsOf(item: RawItem) {
  return (item['movements'] ?? []) as readonly Movement[]
}

/** The row may be shown under a second id. */
function rowOf(
  { world: { provider } }: Write,
  { transactionId: id }: Pick<Movement, 'transactionId'>,
) {
  return provider
    .transactionRecords()
    .find((record) => record.id === id || record.duplicateId === id)?.row
}

function rememberedOf(item: RawItem) {
  return [...((item['remembered_provider_payment_ids'] ?? new Set()) as Set<string>)]
}

/**
 * Whether the writer has asked. The unfinished work of another process asked under that process's
 * name.
 */
function hasAskedAbout({ world, worker }: Write, id: string) {
  return worker !== undefined && (world.sharing.has(worker) || asked.get(worker)?.has(id) === true)
}

function mayExist(item: RawItem) {
  return item['may_exist_upstream'] === true
}

/** The last attempt was neither refused nor without a call. */
function mayBeSent(item: RawItem) {
  const attempts = (item['provider_attempts'] ?? []) as readonly { readonly outcome: string }[]
  return !['refused', 'not_executed'].includes(attempts.at(-1)?.outcome ?? 'unknown')
}

function isDue(item: RawItem) {
  return item['work'] === 'payment' && item['due_at'] !== undefined
}
