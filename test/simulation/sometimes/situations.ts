import { type RawItem, text } from '../../support/recount/books.ts'
import { type Faults, NO_FAULTS } from '../world/faults.ts'
import { rowsOf } from '../world/rows.ts'
import { count, type Tally, type World } from '../world/world.ts'

/** In how many seeds a situation must happen at least once. `.ci/run` runs 250 seeds, `.ci/nightly` 1,000. */
type Within = 25 | 250 | 1_000

/** Faults of few histories. All others must happen within the first 25 seeds. */
const RARE_FAULTS: Partial<Readonly<Record<keyof Faults, Within>>> = {
  providerStale: 250,
  providerQuota: 250,
  rowMissing: 250,
  rowTwice: 250,
  feeLate: 250,
  feeZero: 250,
  wrongAmount: 250,
}

/** Situations that histories must meet. `meet` counts each one when it happens. */
const MET = {
  'a payment is created': 25, // From `creating` to `pending`
  'a create is replayed after its payment has ended': 25, // The reply must show the final status
  'a merchant asks for the deliveries of another one': 25, // By its endpoint id. The reply is 404
  'an operator redelivers': 25, // The new round needs an audit record
  'a second caller meets a live lease': 25, // Its claim is refused while the first caller creates the payment
  'an expired lease is taken over': 250, // Its process died or was frozen; the next attempt begins
  'a released attempt is taken over': 25, // The attempt failed and released its lease; the merchant retried
  'a commit is refused': 250, // Another attempt has begun, or a capture came first
  'a push is held back': 25, // The customer may still answer the previous push
  'an attempt is frozen during its work': 25, // Its caller gets an error; it continues later
  'an attempt continues after its lease has expired': 1_000, // Another attempt has taken over by then
  'the table does not answer a write of a create': 25, // Some of these writes are applied, and some are not
  'another caller changes the item that is being written': 25, // The writer’s read is out of date
  'a request that its payment does not need is cancelled': 25, // Another request is shown, or the payment is paid
  'a capture is remembered while its payment is created': 1_000, // Its callback came before the commit
  'a payment is paid before it was shown': 250, // From `creating` to `succeeded`
  'a payment succeeds': 25, // From `pending` to `succeeded`
  'a payment fails': 25, // From `pending` to `failed`
  'a payment expires': 25, // From `pending` to `expired`
  'a payment is cancelled': 25, // From `pending` to `cancelled`
  'a success is found by receive-provider-callback': 25,
  'a success is found by check-due-payments': 25,
  'a success is found by sync-provider-transactions': 25, // The scheduled run read its row
  'a success is found by sync-slices': 250, // A worker of the queue read its row
  'a success is found by refresh-payment': 250, // An operator asked the provider
  'a success is found by api-cancel-payment': 250, // The merchant tried to cancel a paid payment
  'a success is refused': 250, // Another process credited the same capture first
  'a payment is paid after its cancel was requested': 250, // The customer paid before the provider cancelled
  'a payment is paid after its expiry began': 250, // The customer paid before our expiry took effect
  'a cancel is refused by an expiry that has begun': 250, // They run at once, and the expiry wins
  'money comes for an expired payment': 250, // It goes to suspense
  'money comes for a cancelled payment': 1_000, // It goes to suspense
  'money comes for a failed payment': 1_000, // It goes to suspense
  'a payment is captured a second time': 250, // The second payment goes to suspense
  'an operation of the provider is paused': 25, // A 429 pauses it in all environments
  'a message that was never sent is sent by due work': 25, // Its process died, or the queue was down
  'a delivery succeeds': 25, // From `scheduled` to `succeeded`
  'the eighth attempt fails': 25, // From `scheduled` to `abandoned`
  'a delivery begins another round': 25, // From its end back to `scheduled`
  'a second claim is refused': 25, // An attempt is claimed once
  'a worker is frozen while it holds a claim': 25, // For a fast clock the claim expires early
  'the alert topic is down when a delivery is abandoned': 25, // Due work sends the alert later
  'a result is refused after its claim has expired': 250, // Another worker has recorded the attempt as unknown
  'an attempt whose worker died is recorded': 25, // Its result is unknown
  'a lost message is sent again': 25, // Due work finds the overdue delivery
  'an attempt goes through the slow lane': 25, // Its endpoint recently held a worker
  'an alert is repeated after a crash': 1_000, // Its worker died before it recorded the alert
  'the sweep records a settlement': 25,
  'an operator’s trigger records a settlement': 25,
  'a window is summed over several runs': 25, // The last run continues from the stored sum
  'a settlement record is refused by a concurrent one': 25, // Sweep and trigger at once
  'the fence refuses an entry': 250, // A settlement closed the journal after the entry was planned
  'a reversal is settled beside payments': 25, // The reversal is a line of the next settlement
  'a settlement is paid out': 25, // From `recorded` to `manual_paid`
  'a settlement fails': 25, // From `recorded` to `failed`
  'a settlement is re-credited': 25, // Its net is available again
  'a re-credit is settled again': 25, // It is one line of the next settlement
  'a payout waits for its audit': 25, // The refusal says when to try again
  'a payout is stopped by money that no row proves': 250, // An operator must confirm the amount
  'a payout is stopped by new bank details': 250, // An operator must ask the merchant first
  'a payout is stopped by a debt of its client': 250, // Reversals exceed the funds that are due
  'a payout is stopped by open findings': 250, // An operator must examine them
  'a payout is stopped by a hold': 250, // An operator of finance put payouts on hold
  'a bank reference is used a second time': 1_000, // One transfer pays out one settlement
  'an operator adjusts a ledger': 25, // Each reference makes one entry
  'a won dispute pays back a write-off': 1_000, // The house takes back what it had written off
  'a read-only key is refused': 250, // It tries to create a payment
  'a payment is posted by its settled row': 25, // Its fee is final, and its entry is written
  'a fee differs from its estimate': 25, // The entry has the fee that the provider kept
  'a payment is posted more than a day after it was paid': 25, // It delays no other payment
  'a payment is posted after a reversal': 250, // Each recorded reversal becomes an entry
  'a payment is void before it is posted': 250, // It is no longer open, and its client gets nothing
  'a fee is assumed after seven days': 1_000, // After seven days the provider still shows no fee
  'the row of an assumed payment comes late': 1_000, // It is booked once, with zeros for the client
  'a client grows while it has payments': 250, // New payments go to its new parts
  'a payment is in a later part of its client': 250, // Not in the first part
  'a payment is made while the provider does not answer about it': 25, // Meanwhile its row is settled or reversed
  'a sync is frozen during its work': 25, // It continues beside another run, often after its lease has expired
  'a settlement run is frozen during its work': 250, // It continues with its old sum
  'several operators move the money of one client at once': 25, // They pay out, mark failed, re-credit and settle
} as const satisfies Readonly<Record<string, Within>>

export type SituationName = keyof typeof MET

/** The stage of a payment when money of it is reversed, or returns after a won dispute. */
const STAGES = ['open', 'posted', 'recorded', 'failed', 're-credited', 'paid out'] as const
type Stage = (typeof STAGES)[number]

const SIZES = ['whole', 'in part'] as const

/** Every kind of reversal and won dispute, at every stage. */
const REVERSAL_CELLS: readonly string[] = [
  'voided whole',
  'reversed whole',
  'row voided',
  ...['refund', 'chargeback', 'dispute_won'].flatMap((kind) => SIZES.map((size) => `${kind} ${size}`)),
].flatMap((way) => STAGES.map((stage) => `reversal: ${way}, ${stage}`))

const FAULTS = Object.keys(NO_FAULTS) as (keyof Faults)[]

export const SITUATIONS: ReadonlyMap<string, Within> = new Map([
  ...FAULTS.map((name) => [`fault ${name}`, RARE_FAULTS[name] ?? 25] as const),
  ...REVERSAL_CELLS.map((cell) => [cell, 1_000] as const),
  ...Object.entries(MET).map(([name, within]) => [`sometimes: ${name}`, within] as const),
])

export const meet = ({ tally }: Pick<World, 'tally'>, name: SituationName): void => count(tally, `sometimes: ${name}`)

export const meetEach = (world: Pick<World, 'tally'>, found: Partial<Record<SituationName, boolean>>): void => {
  for (const [name, isSo] of Object.entries(found)) if (isSo) meet(world, name as SituationName)
}

/** Situations and faults that this number of histories must have met, and did not. */
export const missingSituations = (tally: Tally, histories: number): readonly string[] =>
  [...SITUATIONS].filter(([name, within]) => within <= histories && !tally.has(name)).map(([name]) => name)

const DAY_MS = 86_400_000

/** The time from which the payment's own entry can be settled. */
const eligibleAt = (payment: RawItem): string => {
  const aDayOld = new Date(Date.parse(text(payment, 'paid_at')) + DAY_MS).toISOString()
  const postedAt = text(payment, 'posted_at')
  return postedAt > aDayOld ? postedAt : aDayOld
}

/** The settlement that contains the payment's own entry; undefined before there is one. */
export const settlementOf = (world: World, payment: RawItem): RawItem | undefined => {
  if (text(payment, 'posted_at') === '') return undefined
  const at = eligibleAt(payment)
  return rowsOf(world, 'SETTLEMENT', { client_id: payment['client_id'] }).find(
    (settlement) => text(settlement, 'swept_from') <= at && at < text(settlement, 'swept_until'),
  )
}

export const stageOf = (world: World, payment: RawItem): Stage => {
  if (text(payment, 'posted_at') === '') return 'open'
  const settlement = settlementOf(world, payment)
  if (settlement === undefined) return 'posted'
  if (settlement['status'] === 'recorded') return 'recorded'
  if (settlement['status'] === 'manual_paid') return 'paid out'
  return settlement['recredited_at'] === undefined ? 'failed' : 're-credited'
}

type Moved = { readonly type: string; readonly amountMinor: number; readonly isOwnRow?: boolean }

const movementsOf = (payment: RawItem): readonly Moved[] => (payment['movements'] ?? []) as readonly Moved[]

const wayOf = (payment: RawItem, { type, amountMinor, isOwnRow }: Moved): string => {
  if (type === 'reversal' && isOwnRow !== true) return 'row voided'
  if (type === 'reversal') return `${text(Object(payment['reversal']), 'kind')} whole`
  return `${type} ${amountMinor < Number(payment['notional_minor']) ? 'in part' : 'whole'}`
}

/** Counts each movement by kind, size and stage when the payment's row gets it. */
export const watchReversals = (world: World): void => {
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || before === undefined || after === undefined) return
    const moved = movementsOf(after).slice(movementsOf(before).length)
    for (const one of moved) count(world.tally, `reversal: ${wayOf(after, one)}, ${stageOf(world, before)}`)
  })
}
