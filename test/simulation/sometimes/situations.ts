import { type RawItem, text } from '../../support/recount/books.ts'
import { type Faults, NO_FAULTS } from '../world/faults.ts'
import { rowsOf } from '../world/rows.ts'
import { count, type Tally, type World } from '../world/world.ts'

/** It must happen within the first 25, 250 or 1,000 seeds. `.ci/run` runs 250, `.ci/nightly` 1,000. */
type Within = 25 | 250 | 1_000

/** Faults that few histories have. All others must happen within the first 25 seeds. */
const RARE_FAULTS: Partial<Readonly<Record<keyof Faults, Within>>> = {
  providerStale: 250,
  providerQuota: 250,
  rowMissing: 250,
  rowTwice: 250,
  feeLate: 250,
  feeZero: 250,
  wrongAmount: 250,
}

/** Situations that histories must meet. `meet` records each where it takes effect. */
const MET = {
  'a payment is created': 25, // From `creating` to `pending`: its destination is committed
  'a create is replayed after its payment has ended': 25, // The replay must show the end
  'a merchant asks for the deliveries of another one': 25, // By an endpoint id that has deliveries. The answer is 404
  'an operator redelivers': 25, // A new round begins on the operator’s word, so it has a record
  'a second caller meets a live lease': 25, // A claim is refused while another one creates the payment
  'an expired lease is taken over': 250, // Its process died or stood still; the next attempt begins
  'a released attempt is taken over': 25, // It failed, said so, and the merchant tried again
  'a commit is refused': 250, // Another attempt or a capture has gone past the attempt that commits
  'a push is held back': 25, // The last one may still be answered on the customer’s phone
  'an attempt is frozen during its work': 25, // Its caller is answered for; it goes on when another one comes
  'an attempt continues after its lease has expired': 1_000, // It wakes up, and another one has taken over meanwhile
  'the table does not answer a write of a create': 25, // Some of its writes are done, and some are not
  'another caller changes the item that is being written': 25, // What was read before a write has changed when it comes
  'a create is committed and its answer lost': 1_000, // The table did it; the caller must find out
  'a cancel is done and its answer lost': 25, // The caller must find out on whose behalf it was
  'a callback comes before the provider shows its payment': 25, // The provider does not know yet what it has told of
  'an orphan is cancelled': 25, // A cancel leaves for a request that no payment shows, or needs any more
  'a process dies between destination and commit': 1_000, // Nothing of the provider's answer is written down
  'a capture is remembered while its payment is created': 1_000, // Its callback came before the commit
  'a payment is paid before it was shown': 250, // From `creating` to `succeeded`
  'a payment succeeds': 25, // From `pending` to `succeeded`
  'a payment fails': 25, // From `pending` to `failed`
  'a payment expires': 25, // From `pending` to `expired`
  'a payment is cancelled': 25, // From `pending` to `cancelled`
  'a success is committed and its answer lost': 1_000, // The credit is there; a retry must not repeat it
  'a success is found by receive-provider-callback': 25, // The callback came through
  'a success is found by check-due-payments': 25, // Our own check found it
  'a success is found by sync-provider-transactions': 25, // The schedule read its row
  'a success is found by sync-slices': 250, // A worker read its row
  'a success is found by refresh-payment': 250, // An operator asked
  'a success is found by api-cancel-payment': 250, // The merchant wanted to cancel what was paid
  'a success is refused': 250, // Two bring the same capture, and one is second
  'a payment is paid after its cancel was requested': 250, // The customer was faster than the cancel
  'a payment is paid after its expiry began': 250, // The customer was faster than our own expiry
  'a cancel is refused by an expiry that has begun': 250, // Both at once: the expiry wins
  'money comes for an expired payment': 250, // It is held, and not credited
  'money comes for a cancelled payment': 1_000, // It is held, and not credited
  'money comes for a failed payment': 1_000, // It is held, and not credited
  'a payment is captured a second time': 250, // A payment that has its money is paid again
  'a callback comes for an expired payment': 25, // It comes late, or tells of money that does
  'a callback comes for a cancelled payment': 1_000, // It comes late, or tells of money that does
  'two callbacks of one payment run at once': 250, // The second begins while the first is under way, on a pending payment
  'an operation of the provider is paused': 25, // A 429 pauses it in all environments
  'a message that was never sent is sent by due work': 25, // Its delivery was committed, and nothing left after that
  'a delivery succeeds': 25, // From `scheduled` to `succeeded`
  'the eighth attempt fails': 25, // From `scheduled` to `abandoned`
  'a delivery begins another round': 25, // From its end back to `scheduled`
  'a second claim is refused': 25, // An attempt is claimed once; the second is refused
  'a worker is frozen while it holds a claim': 25, // Others look meanwhile, and by a clock that is ahead it runs out
  'the alert topic is down when a delivery is abandoned': 25, // The alert waits, and due work tells them later
  'a result is refused after its claim has expired': 250, // Its attempt was recorded as unknown meanwhile
  'an attempt whose worker died is recorded': 25, // It is unknown what the merchant got
  'a lost message is sent again': 25, // Due work finds a delivery that is overdue
  'an attempt goes through the slow lane': 25, // Its endpoint is known to hang
  'an alert is repeated after a crash': 1_000, // Its worker had no time to note what it had told
  'a settlement by the sweep': 25, // Recorded in the night
  'a settlement by an operator': 25, // Recorded on a trigger
  'a window is summed over several runs': 25, // The settlement is recorded after what another run had kept
  'a sum is continued after its run died': 250, // What it had kept stands
  'a settlement record is refused by a concurrent one': 25, // Sweep and trigger at once
  'the fence refuses an entry': 250, // A settlement closed the journal after the entry was planned
  'a deduction is settled beside payments': 25, // What went back is a line of the next settlement
  'a settlement is paid out': 25, // From `recorded` to `manual_paid`
  'a settlement fails': 25, // From `recorded` to `failed`
  'a settlement is re-credited': 25, // Its money waits in available
  'a re-credit is settled again': 25, // It is one line of the next settlement
  'a payout waits for its audit': 25, // The gate says when to ask again
  'a payout is stopped by money that no row proves': 250, // An operator has to confirm the amount
  'a payout is stopped by new bank details': 250, // An operator asks the merchant first
  'a payout is stopped by a debt of its client': 250, // More went back than is due
  'a payout is stopped by open findings': 250, // A person has to look at them
  'a payout is stopped by a hold': 250, // Finance said so
  'a bank reference is used a second time': 1_000, // One transfer pays out one settlement
  'an operator adjusts a ledger': 25, // One entry for each reference
  'a won dispute pays back what was written off': 1_000, // The house takes what it had given up
  'a key that may only read is refused': 250, // It asks for a payment, and nothing is made
  'a payment is posted by its settled row': 25, // Its fee is final, and its entry is written
  'a fee differs from its estimate': 25, // The entry has the fee that the provider kept
  'a payment is posted more than a day after it was paid': 25, // It holds up no other payment
  'a payment is posted after money of it went back': 250, // Every noted row becomes an entry
  'a payment is void before it is posted': 250, // It leaves open with nothing for its client
  'a fee is assumed by its day': 1_000, // Seven days are over, and the provider does not know it
  'the row of an assumed payment comes late': 1_000, // It is booked once, with zeros for the client
  'a client grows while it has payments': 250, // New ones go to new parts of its books
  'a payment is in a later part of its client': 250, // Not in the first part of a client that has grown
  'a payment is made while the provider does not answer about it': 25, // Its row is settled, or turns, meanwhile
  'a sync is frozen during its work': 25, // It goes on beside another one, often after its lease
  'a settlement run is frozen during its work': 250, // It goes on with what it had summed by then
  'several operators move the money of one client at once': 25, // Paid out, refused, put back and settled at once
  'a slice of a dead worker is taken over': 250, // The sync goes on where it was
} as const satisfies Readonly<Record<string, Within>>

export type SituationName = keyof typeof MET

/** The stage of a payment when its money goes back or returns. */
const STAGES = ['open', 'posted', 'recorded', 'failed', 're-credited', 'paid out'] as const
type Stage = (typeof STAGES)[number]

const SIZES = ['whole', 'in part'] as const

/** Every way in which money goes back or returns, at every stage. */
const REVERSAL_CELLS: readonly string[] = [
  'voided whole',
  'reversed whole',
  'row voided',
  ...['refund', 'chargeback', 'dispute_won'].flatMap((kind) => SIZES.map((size) => `${kind} ${size}`)),
].flatMap((way) => STAGES.map((stage) => `reversal: ${way}, ${stage}`))

const FAULTS = Object.keys(NO_FAULTS) as (keyof Faults)[]

/** By the name in a tally: within how many seeds it must happen. */
export const SITUATIONS: ReadonlyMap<string, Within> = new Map([
  ...FAULTS.map((name) => [`fault ${name}`, RARE_FAULTS[name] ?? 25] as const),
  ...REVERSAL_CELLS.map((cell) => [cell, 1_000] as const),
  ...Object.entries(MET).map(([name, within]) => [`sometimes: ${name}`, within] as const),
])

/** Records a situation where it takes effect. */
export const meet = ({ tally }: Pick<World, 'tally'>, name: SituationName): void => count(tally, `sometimes: ${name}`)

/** Records those of several situations that are true. */
export const meetEach = (world: Pick<World, 'tally'>, found: Partial<Record<SituationName, boolean>>): void => {
  for (const [name, isSo] of Object.entries(found)) if (isSo) meet(world, name as SituationName)
}

/** Situations and faults that the first so many histories should have met and did not. */
export const missingSituations = (tally: Tally, histories: number): readonly string[] =>
  [...SITUATIONS].filter(([name, within]) => within <= histories && !tally.has(name)).map(([name]) => name)

const DAY_MS = 86_400_000

/** When the payment's own entry may be settled. */
const eligibleAt = (payment: RawItem): string => {
  const aDayOld = new Date(Date.parse(text(payment, 'paid_at')) + DAY_MS).toISOString()
  const postedAt = text(payment, 'posted_at')
  return postedAt > aDayOld ? postedAt : aDayOld
}

/** The settlement that took a payment's own entry; undefined before it. */
export const settlementOf = (world: World, payment: RawItem): RawItem | undefined => {
  if (text(payment, 'posted_at') === '') return undefined
  const at = eligibleAt(payment)
  return rowsOf(world, 'SETTLEMENT', { client_id: payment['client_id'] }).find(
    (settlement) => text(settlement, 'swept_from') <= at && at < text(settlement, 'swept_until'),
  )
}

/** The stage of a payment by the raw items of this moment. */
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

/** Counts each movement by how, how much and at which stage, at the moment our books have it. */
export const watchReversals = (world: World): void => {
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || before === undefined || after === undefined) return
    const moved = movementsOf(after).slice(movementsOf(before).length)
    for (const one of moved) count(world.tally, `reversal: ${wayOf(after, one)}, ${stageOf(world, before)}`)
  })
}
