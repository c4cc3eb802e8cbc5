import type { Faults } from '../faults.ts'
import { REVERSAL_CELLS } from './reversal-stages.ts'

/** In so many seeds, from the first on, it must have happened: those of `npm test`, of `.ci/run`, of a long run. */
type Within = 50 | 250 | 1_000

type Situation = { readonly within: Within; readonly what: string }

/** Every fault of the simulation. One that is not listed does not compile, one that never strikes fails. */
const FAULTS: Readonly<Record<keyof Faults, Within>> = {
  crash: 50,
  environmentLost: 50,
  slowCall: 50,
  tableThrottled: 50,
  tableAnswerLost: 50,
  tableConflict: 50,
  tableRetried: 50,
  pageCut: 50,
  batchCut: 50,
  indexThrottled: 50,
  monotonicStands: 50,
  indexLagMs: 50,
  streamLagMs: 50,
  streamLost: 50,
  streamTwice: 50,
  queueTwice: 50,
  queueReordered: 50,
  queueSendFails: 50,
  providerUnreachable: 50,
  providerAnswerLost: 50,
  providerServerError: 50,
  providerRateLimit: 50,
  providerSlow: 50,
  providerBehind: 50,
  callbackLost: 50,
  callbackTwice: 50,
  callbackLateMs: 50,
  merchantFails: 50,
  merchantHangs: 50,
  alertFails: 50,
  scheduleTwice: 50,
  scheduleMissed: 50,
  wrongAmount: 250,
  paidLate: 50,
  clockSkewMs: 50,
  answeredEarly: 50,
  flood: 250,
  endpointHangs: 50,
}

/** Situations worth a proof, each recorded by `meet` where it takes effect. */
const RARE = {
  'a payment is created': { within: 50, what: 'From `creating` to `pending`: its destination is committed.' },
  'a second caller meets a live lease': {
    within: 50,
    what: 'A claim is refused while another one creates the payment.',
  },
  'a lease that ran out is taken over': {
    within: 250,
    what: 'Its process died or stood still; the next attempt begins.',
  },
  'a released attempt is taken over': { within: 50, what: 'It failed, said so, and the merchant tried again.' },
  'a commit is refused': { within: 250, what: 'Another attempt or a capture has gone past the attempt that commits.' },
  'a create is committed and its answer lost': {
    within: 1_000,
    what: 'The table did it; whoever asked must find out.',
  },
  'an orphan is cancelled': {
    within: 250,
    what: 'A cancel leaves for a request that no payment shows, or needs any more.',
  },
  'a process dies between destination and commit': {
    within: 1_000,
    what: 'The provider has answered, and nobody is left to write it down.',
  },
  'a capture is remembered while its payment is created': { within: 250, what: 'Its callback came before the commit.' },
  'a payment is paid before it was shown': { within: 250, what: 'From `creating` to `succeeded`.' },
  'a payment succeeds': { within: 50, what: 'From `pending` to `succeeded`.' },
  'a payment fails': { within: 50, what: 'From `pending` to `failed`.' },
  'a payment expires': { within: 50, what: 'From `pending` to `expired`.' },
  'a payment is cancelled': { within: 50, what: 'From `pending` to `cancelled`.' },
  'a success is committed and its answer lost': {
    within: 1_000,
    what: 'The credit is there; whoever asks again must not repeat it.',
  },
  'a success is found by receive-provider-callback': { within: 50, what: 'The callback came through.' },
  'a success is found by check-due-payments': { within: 50, what: 'Our own check found it.' },
  'a success is found by sync-provider-transactions': { within: 50, what: 'The schedule read its row.' },
  'a success is found by sync-slices': { within: 250, what: 'A worker read its row.' },
  'a success is found by refresh-payment': { within: 250, what: 'An operator asked.' },
  'a success is found by api-cancel-payment': { within: 250, what: 'The merchant wanted to cancel what was paid.' },
  'a success is refused': { within: 250, what: 'Two bring the same capture, and one is second.' },
  'paid after its cancel was asked for': { within: 250, what: 'The customer was faster than the cancel.' },
  'paid after its expiry had begun': { within: 250, what: 'The customer was faster than our own expiry.' },
  'a cancel is refused by an expiry that has begun': { within: 1_000, what: 'Both at once: the expiry wins.' },
  'money for a payment that is expired': { within: 250, what: 'It is held, and not credited.' },
  'money for a payment that is cancelled': { within: 1_000, what: 'It is held, and not credited.' },
  'money for a payment that is failed': { within: 1_000, what: 'It is held, and not credited.' },
  'a second capture': { within: 250, what: 'A payment that has its money is paid again.' },
  'a callback for a payment that is expired': { within: 50, what: 'It comes late, or tells of money that does.' },
  'a callback for a payment that is cancelled': { within: 1_000, what: 'It comes late, or tells of money that does.' },
  'two callbacks of one payment at once': {
    within: 250,
    what: 'The second begins while the first is under way, on a pending payment.',
  },
  'an operation of the provider is paused': { within: 50, what: 'A 429 stops everybody for a while.' },
  'an event that the stream lost is found by the watchdog': { within: 50, what: 'Due work fans it out.' },
  'a delivery succeeds': { within: 50, what: 'From `scheduled` to `succeeded`.' },
  'the eighth attempt fails': { within: 50, what: 'From `scheduled` to `abandoned`.' },
  'a delivery begins another round': { within: 50, what: 'From its end back to `scheduled`.' },
  'a claim is taken by another worker': { within: 50, what: 'An attempt is claimed once; the second is refused.' },
  'a result behind its claim is refused': { within: 1_000, what: 'Its attempt was recorded as unknown meanwhile.' },
  'an attempt whose worker died is recorded': { within: 50, what: 'Nobody knows what the merchant got.' },
  'a message that was lost is sent again': { within: 50, what: 'Due work finds a delivery that is overdue.' },
  'an attempt goes through the slow lane': { within: 50, what: 'Its endpoint is known to hang.' },
  'an alert is repeated after a crash': { within: 1_000, what: 'The same message with the same id, twice.' },
  'a settlement by the sweep': { within: 50, what: 'Recorded in the night.' },
  'a settlement by an operator': { within: 50, what: 'Recorded on a trigger.' },
  'a window is summed over several runs': {
    within: 50,
    what: 'The settlement is recorded behind what another run had kept.',
  },
  'a run that died in the midst of a sum is gone on with': { within: 250, what: 'What it had kept stands.' },
  'money goes back inside what was summed': {
    within: 250,
    what: 'A payment of the kept prefix is deducted before the record.',
  },
  'a record is refused by money that went back': { within: 1_000, what: 'The sums were read before it.' },
  'a record is refused by another one': { within: 1_000, what: 'Sweep and trigger at once.' },
  'a window ends before an estimated fee': { within: 50, what: 'Settlements carry actual fees.' },
  'a settlement is paid out': { within: 50, what: 'From `recorded` to `manual_paid`.' },
  'a settlement fails': { within: 50, what: 'From `recorded` to `failed`.' },
  'a settlement is re-credited': { within: 50, what: 'Its money waits in available.' },
  'a re-credited settlement is recorded again': { within: 50, what: 'Its money is drawn from available once.' },
  'a payout is stopped by money that went back': { within: 50, what: 'An operator has to confirm it.' },
  'a fee is known at success': { within: 50, what: 'The provider says it, or the contract does.' },
  'a fee becomes actual later': { within: 50, what: 'From `estimated` to `actual`.' },
  'a fee is assumed by its day': { within: 1_000, what: 'Seven days are over, and the provider does not know it.' },
  'a client grows while it has payments': { within: 50, what: 'New ones go to new parts of its books.' },
  'a payment in a part of its own': { within: 50, what: 'Behind the first part of a client that has grown.' },
  'a slice of a dead worker is taken over': { within: 250, what: 'The sync goes on where it was.' },
} as const satisfies Readonly<Record<string, Situation>>

export type SituationName = keyof typeof RARE

/** Under the name by which a tally counts it: how soon it must have happened, and what it is. */
export const SITUATIONS: ReadonlyMap<string, Situation> = new Map([
  ...Object.entries(FAULTS).map(([name, within]) => [`fault ${name}`, { within, what: 'As faults.ts says.' }] as const),
  ...REVERSAL_CELLS.map(
    (cell) => [cell, { within: 1_000, what: 'How much went back or came again, and at which stage.' }] as const,
  ),
  ...Object.entries<Situation>(RARE).map(([name, situation]) => [`sometimes: ${name}`, situation] as const),
])
