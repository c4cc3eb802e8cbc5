import { pausesKey } from '../../../shared/table/keys.ts'
import { amount, clientOf, type RawItem, text } from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import { type Faults, NO_FAULTS } from '../world/faults.ts'
import { deliveryStatus, entriesOf, onCancel, paymentRow, STAGES, stageOf } from '../world/rows.ts'
import { DAY_MS, isChanged, isGiven, ms, onWrite, type Write } from '../world/rules.ts'
import { count, type Tally } from '../world/tally.ts'
import { type World } from '../world/world.ts'
import { REFUSALS, REPORTED, type Situations, type Within } from './report-situation.ts'

/** Faults that few histories have. All other faults must happen within the first 25 seeds. */
const RARE_FAULTS: Partial<Readonly<Record<keyof Faults, Within>>> = {
  providerStale: 250,
  providerQuota: 250,
  rowLate: 250,
  rowMissing: 250,
  rowTwice: 250,
  feeLate: 250,
  feeZero: 250,
  wrongAmount: 250,
}

const OF_SETTLEMENTS: Situations<Write> = {
  'the sweep records a settlement': [25, (write) => write.isNew && !isTriggered(write)],
  'an operator’s trigger records a settlement': [25, (write) => write.isNew && isTriggered(write)],
  'a reversal is settled beside payments': [
    25,
    (write) =>
      write.isNew &&
      typesIn(write).some((type) => ['refund', 'chargeback', 'reversal'].includes(type)),
  ],
  'a re-credit is settled again': [
    25,
    (write) => write.isNew && typesIn(write).includes('recredit'),
  ],
  'a settlement is paid out': [25, changesStatus('recorded', 'manual_paid')],
  'a settlement fails': [25, changesStatus('recorded', 'failed')],
  'a settlement is re-credited': [25, (write) => isGiven(write, 'recredited_at')],
}

const REVERSAL_CELLS: readonly string[] = [
  'voided whole',
  'reversed whole',
  'row voided',
  ...['refund', 'chargeback', 'dispute_won'].flatMap((kind) => [
    `${kind} whole`,
    `${kind} in part`,
  ]),
].flatMap((way) => STAGES.map((stage) => `reversal: ${way}, ${stage}`))

const [isStillCreating, succeeds] = [
  changesStatus('creating', 'creating'),
  changesStatus('pending', 'succeeded'),
]

const OF_PAYMENTS: Situations<Write> = {
  'a payment is created': [25, changesStatus('creating', 'pending')],
  'a payment is paid before it was shown': [250, changesStatus('creating', 'succeeded')],
  'an expired lease is taken over': [
    250,
    (write) => isTakenOver(write) && write.before['lease_until'] !== undefined,
  ],
  'a released attempt is taken over': [
    25,
    (write) => isTakenOver(write) && write.before['lease_until'] === undefined,
  ],
  'a capture is remembered while its payment is created': [
    1_000,
    (write) => isStillCreating(write) && isGiven(write, 'remembered_provider_payment_ids'),
  ],
  'a payment fails': [25, changesStatus('pending', 'failed')],
  'a payment expires': [25, changesStatus('pending', 'expired')],
  'a payment is cancelled': [25, changesStatus('pending', 'cancelled')],
  'a success is found by receive-provider-callback': [25, isFoundBy('receive-provider-callback')],
  'a success is found by check-due-payments': [25, isFoundBy('check-due-payments')],
  'a success is found by sync-provider-transactions': [25, isFoundBy('sync-provider-transactions')],
  'a success is found by sync-slices': [250, isFoundBy('sync-slices')],
  'a success is found by refresh-payment': [250, isFoundBy('refresh-payment')],
  'a success is found by api-cancel-payment': [250, isFoundBy('api-cancel-payment')],
  'a payment is paid after its cancel was requested': [250, succeedsAfter('cancel_requested_at')],
  'a payment is paid after its expiry began': [250, succeedsAfter('expiry_started_at')],
  'a payment is posted by its settled row': [
    25,
    (write) => isPosted(write) && !isVoid(write) && !isAssumed(write),
  ],
  'a payment is void before it is posted': [250, (write) => isPosted(write) && isVoid(write)],
  'a fee is assumed after seven days': [
    1_000,
    (write) => isPosted(write) && !isVoid(write) && isAssumed(write),
  ],
  'a fee differs from its estimate': [
    25,
    (write) => isPosted(write) && isChanged(write, 'provider_fee_minor'),
  ],
  'a payment is posted after a reversal': [
    250,
    (write) => isPosted(write) && movementsOf(write.after).length > 0,
  ],
  'a payment is posted more than a day after it was paid': [
    25,
    (write) =>
      isPosted(write) && ms(write.after, 'posted_at') > ms(write.after, 'paid_at') + DAY_MS,
  ],
  'the settled row of an assumed fee arrives late': [
    1_000,
    (write) => isGiven(write, 'late_row_at'),
  ],
}

const OF_SUSPENSE: Situations<Write> = {
  'money arrives for an expired payment': [250, isMoneyFor('expired')],
  'money arrives for a cancelled payment': [1_000, isMoneyFor('cancelled')],
  'money arrives for a failed payment': [1_000, isMoneyFor('failed')],
  'a payment is captured a second time': [250, isMoneyFor('succeeded')],
}

const OF_DELIVERIES: Situations<Write> = {
  'a delivery succeeds': [25, endsDelivery('succeeded')],
  'the eighth attempt fails': [25, endsDelivery('abandoned')],
  'an operator redelivers': [25, (write) => isRound(write) && write.worker?.name === 'redeliver'],
  'an overdue message is sent again': [
    25,
    ({ before, after, worker }) =>
      worker?.name === 'check-due-deliveries' &&
      amount(after, 'resends') > amount(before, 'resends'),
  ],
}

const OF_OTHERS: Situations<Write> = {
  'an operation of the provider is paused': [25, ({ key }) => key.pk === pausesKey.pk],
  'an attempt whose worker died is recorded': [
    25,
    ({ key, isNew, after }) =>
      isNew && key.sk.startsWith('ATTEMPT#') && after['error'] === 'unknown',
  ],
  'a won dispute pays back a write-off': [
    1_000,
    ({ key, isNew, after }) =>
      isNew &&
      key.pk.startsWith('JOURNAL#') &&
      after['type'] === 'written_off' &&
      after['payment_id'] !== undefined,
  ],
}

const BY_KIND: Readonly<Record<string, Situations<Write>>> = {
  PAYMENT: OF_PAYMENTS,
  SUSPENSE: OF_SUSPENSE,
  DELIVERY: OF_DELIVERIES,
  SETTLEMENT: OF_SETTLEMENTS,
}

/** The last run continues from the stored sum. */
const SUMMED = 'a window is summed over several runs'
/** Another request is shown, or the payment is paid. */
const UNNEEDED = 'a request that its payment does not need is cancelled'

export const SITUATIONS: ReadonlyMap<string, Within> = new Map([
  ...(Object.keys(NO_FAULTS) as (keyof Faults)[]).map(
    (name) => [`fault ${name}`, RARE_FAULTS[name] ?? 25] as const,
  ),
  ...REVERSAL_CELLS.map((cell) => [cell, 1_000] as const),
  ...Object.entries({ ...REPORTED, [SUMMED]: 25 as const, [UNNEEDED]: 25 as const }).map(
    ([name, within]) => [`sometimes: ${name}`, within] as const,
  ),
  ...[...Object.values(BY_KIND), OF_OTHERS, REFUSALS]
    .flatMap(Object.entries)
    .map(([name, [within]]) => [`sometimes: ${name}`, within] as const),
])

export function missingSituations(tally: Tally, histories: number) {
  return [...SITUATIONS]
    .filter(([name, within]) => within <= histories && !tally.has(name))
    .map(([name]) => name)
}

export function watchSituations(world: World) {
  const met = (name: string) => count(world.tally, `sometimes: ${name}`)
  const note = <Happened>(situations: Situations<Happened>, happened: Happened) => {
    for (const [name, [, isMet]] of Object.entries(situations)) if (isMet(happened)) met(name)
  }
  /** By client: the process that last stored a sum of its window. */
  const keptBy = new Map<string, unknown>()

  onWrite(world, /^/, (write) => {
    const { key, before, after, worker, isNew } = write
    note(BY_KIND[key.sk] ?? OF_OTHERS, write)
    if (key.sk === 'WINDOW' && isChanged(write, 'progress_number'))
      keptBy.set(clientOf(key), worker)
    if (key.sk === 'SETTLEMENT' && isNew) {
      const keeper = keptBy.get(text(after, 'client_id'))
      if (keeper && keeper !== worker) met(SUMMED)
      keptBy.delete(text(after, 'client_id'))
    }
    if (key.sk !== 'PAYMENT' || isNew) return
    for (const moved of movementsOf(after).slice(movementsOf(before).length))
      count(world.tally, `reversal: ${wayOf(after, moved)}, ${stageOf(world, before)}`)
  })
  world.onRefused.push((step, was) => note(REFUSALS, { step, was }))
  onCancel(world, (id, payment) => {
    const isNeeded = payment?.['payment_request_id'] === id && payment?.['status'] !== 'succeeded'
    if (payment && !isNeeded) met(UNNEEDED)
  })
}

type Moved = { readonly type: string; readonly amountMinor: number; readonly isOwnRow?: boolean }

function movementsOf(payment: RawItem) {
  return (payment['movements'] ?? []) as readonly Moved[]
}

function wayOf(payment: RawItem, { type, amountMinor, isOwnRow }: Moved) {
  if (type === 'reversal' && isOwnRow !== true) return 'row voided'
  if (type === 'reversal') return `${text(Object(payment['reversal']), 'kind')} whole`
  return `${type} ${amountMinor < Number(payment['notional_minor']) ? 'in part' : 'whole'}`
}

function changesStatus(from: string, to: string) {
  return ({ before, after }: Write) => before['status'] === from && after['status'] === to
}

function isTakenOver(write: Write) {
  return isStillCreating(write) && isChanged(write, 'attempt')
}

function succeedsAfter(name: string) {
  return (write: Write) => succeeds(write) && write.before[name] !== undefined
}

function isFoundBy(name: string) {
  return (write: Write) => succeeds(write) && write.worker?.name === name
}

function isPosted({ before, after }: Write) {
  return (
    after['status'] === 'succeeded' &&
    before['open_at'] !== undefined &&
    after['open_at'] === undefined
  )
}

function isVoid({ after }: Write) {
  return after['voided_open'] === true
}

function isAssumed({ after }: Write) {
  return after['fee_status'] === 'assumed'
}

function isMoneyFor(status: string) {
  return ({ world, isNew, after }: Write) =>
    isNew &&
    after['kind'] === 'money' &&
    after['cause'] !== 'wrong_amount' &&
    paymentRow(world, after['payment_id'])?.['status'] === status
}

function endsDelivery(is: string) {
  return ({ before, after, isNew }: Write) =>
    !isNew && deliveryStatus(before) === 'scheduled' && deliveryStatus(after) === is
}

function isRound({ before, after, isNew }: Write) {
  return !isNew && deliveryStatus(before) !== 'scheduled' && deliveryStatus(after) === 'scheduled'
}

function typesIn({ world, after }: Write) {
  return sweptBy(after, entriesOf(world, after['client_id'])).map(({ type }) => String(type))
}

function isTriggered({ after }: Write) {
  return after['triggered_by'] === 'manual'
}
