import type { HistorySteps } from '../../shared/stage-settings.ts'
import { fail, recredit, trigger } from '../support/settlement-builders.ts'
import {
  adjust,
  type BusyClient,
  makeBatch,
  ownRow,
  pay,
  reconcile,
  reconcileFrozen,
  refundRow,
  settle,
  voidRow,
  wonRow,
} from './busy-client.ts'
import type { Act } from './scheduler.ts'
import type { Bounds } from './search.ts'

export type Scenario = {
  readonly name: string
  readonly actions: Readonly<Record<string, Act>>
  readonly steps?: HistorySteps
  readonly bounds: Pick<Bounds, 'preemptions' | 'partial'>
}

/** One page of two entries a run: the busy client's window takes several runs. */
const SMALL_STEPS = { rows: 2, pages: 1, block: 1, atOnce: 100 }

/** The same blocks of a digest, and every page in one run. */
const LARGE_STEPS = { rows: 100, pages: 100, block: 1, atOnce: 100 }

type Meeting = readonly [what: string, ...(keyof ReturnType<typeof actionsOn>)[]]

const PAIRS: readonly Meeting[] = [
  ['a payment is posted while its client is settled', 'post', 'settle'],
  ['a frozen poster writes while a settlement is made', 'frozen post', 'settle'],
  ['a row is reconciled twice at once', 'post', 'post again'],
  ['two payments of one shard are posted', 'post', 'post another'],
  ['a payment is posted while a part of it is refunded', 'post', 'refund open'],
  ['a payment is posted while it is voided', 'post', 'void open'],
  ['a part of an open payment is refunded while it is voided', 'refund open', 'void open'],
  ['two refunds of one payment meet', 'refund paid', 'refund paid more'],
  ['a payment is refunded while its client is settled', 'refund paid', 'settle'],
  ['a payment is refunded while its settlement is paid out', 'refund paid', 'pay'],
  ['a payment is voided while its settlement is paid out', 'void paid', 'pay'],
  ['two parts of a dispute are won', 'win', 'win a part'],
  ['a dispute is won while its client is settled', 'win', 'settle'],
  ['a dispute is won while a write-off is taken back', 'win', 'take a write-off back'],
  ['the late row of a payment comes while it is refunded', 'late row', 'refund assumed'],
  ['the late row of a payment comes while its client is settled', 'late row', 'settle'],
  ['a settlement is paid out and marked failed', 'pay', 'fail'],
  ['two operators make a payout file', 'batch', 'batch again'],
  ['a settlement enters a batch while it is paid out', 'batch', 'pay'],
  ['a settlement enters a batch while it is marked failed', 'batch', 'fail'],
  ['a settlement is paid out while the next is made', 'pay', 'settle'],
  ['a settlement fails while the next is made', 'fail', 'settle'],
  ['a settlement is re-credited while it fails', 'fail', 're-credit the next'],
  ['two operators re-credit one settlement', 're-credit', 're-credit too'],
  ['a settlement is re-credited while the next is made', 're-credit', 'settle'],
  ['one adjustment is written by two operators', 'correct', 'correct again'],
  ['two adjustments of one client are written', 'correct', 'correct more'],
  ['an adjustment is written while its client is settled', 'correct', 'settle'],
  ['a write-off is lowered while its client is settled', 'write off less', 'settle'],
  ['the sweep and an operator settle one client', 'settle', 'trigger'],
  ['two sweeps settle one client, by clocks that differ', 'settle', 'settle ahead'],
]

const TRIPLES: readonly Meeting[] = [
  ['a frozen poster writes after two settlements', 'frozen post', 'settle', 'trigger'],
  ['two operators re-credit while a settlement is made', 're-credit', 're-credit too', 'settle'],
  [
    'a payment is posted and another settlement re-credited while one is made',
    'post',
    're-credit',
    'settle',
  ],
  [
    'one settlement is paid out, marked failed and re-credited',
    'pay',
    'fail',
    're-credit the next',
  ],
  [
    'one adjustment is written twice while a settlement is made',
    'correct',
    'correct again',
    'settle',
  ],
  [
    'two parts of a dispute are won while a write-off is taken back',
    'win',
    'win a part',
    'take a write-off back',
  ],
  ['a payment is posted and refunded while its client is settled', 'post', 'refund open', 'settle'],
  ['a payment is posted and voided while its client is settled', 'post', 'void open', 'settle'],
  [
    'a late row and a refund meet while their client is settled',
    'late row',
    'refund assumed',
    'settle',
  ],
]

const FOURS: readonly Meeting[] = [
  [
    'a sweep, a trigger, a re-credit and an adjustment meet',
    'settle',
    'trigger',
    're-credit',
    'correct',
  ],
  [
    'a payout, a refund, a won dispute and a settlement meet',
    'pay',
    'refund paid',
    'win',
    'settle',
  ],
  [
    'two frozen posters, a sweep and a trigger meet',
    'frozen post',
    'frozen post in shard 0',
    'settle',
    'trigger',
  ],
]

const IN_RUNS: readonly Meeting[] = [
  ['two sweeps sum one window over several runs', 'settle', 'settle too'],
  [
    'a window is summed over several runs and at once, and a payment is posted',
    'settle',
    'settle at once',
    'post',
  ],
  ['a frozen poster writes while a window is summed over several runs', 'frozen post', 'settle'],
  ['a settlement is re-credited while a window is summed over several runs', 're-credit', 'settle'],
  [
    'two sweeps sum one window over several runs, beside a frozen poster',
    'frozen post',
    'settle',
    'settle too',
  ],
]

export function scenariosOf(busy: BusyClient) {
  const actions = actionsOn(busy)
  const scenarioOf = ([name, ...names]: Meeting, steps?: HistorySteps) => ({
    name,
    actions: Object.fromEntries(names.map((action) => [action, actions[action]])),
    ...(steps && { steps }),
    // Four actions have too many schedules for transactions in parts.
    bounds: { preemptions: 2, partial: names.length === 4 ? 0 : 1 },
  })
  return [
    ...[...PAIRS, ...TRIPLES, ...FOURS].map((scenario) => scenarioOf(scenario)),
    ...IN_RUNS.map((scenario) => scenarioOf(scenario, SMALL_STEPS)),
  ]
}

function actionsOn(busy: BusyClient) {
  const { client, open, paid, disputed, assumed, recorded, failed, now } = busy
  const [first, second, third] = open
  return {
    post: reconcile(ownRow(first, now), first),
    'post again': reconcile(ownRow(first, now), first),
    'post another': reconcile(ownRow(second, now), second),
    'frozen post': reconcileFrozen(ownRow(first, now), first),
    'frozen post in shard 0': reconcileFrozen(ownRow(third, now), third),
    'refund open': reconcile(refundRow(first, now, 30_000), first),
    'refund paid': reconcile(refundRow(paid, now, 30_000), paid),
    'refund paid more': reconcile(refundRow(paid, now, 80_000), paid),
    'refund assumed': reconcile(refundRow(assumed, now, 30_000), assumed),
    'void open': reconcile(voidRow(first, now), first),
    'void paid': reconcile(voidRow(paid, now), paid),
    'late row': reconcile(ownRow(assumed, now), assumed),
    win: reconcile(wonRow(disputed, now), disputed),
    'win a part': reconcile(wonRow(disputed, now, 25_000), disputed),
    settle: settle(client),
    'settle ahead': settle(client, { aheadMs: 5_000 }),
    'settle at once': settle(client, { steps: LARGE_STEPS }),
    'settle too': settle(client),
    trigger: (deps) => trigger(deps, client),
    pay: pay(recorded),
    batch: makeBatch,
    'batch again': makeBatch,
    fail: (deps) => fail(deps, recorded),
    're-credit': (deps) => recredit(deps, failed),
    're-credit too': (deps) => recredit(deps, failed),
    're-credit the next': (deps) => recredit(deps, recorded),
    // The client owes nothing, so only a correction may be positive.
    correct: adjust(client, 'correction', 7_000, 'a fee'),
    'correct again': adjust(client, 'correction', 7_000, 'a fee'),
    'correct more': adjust(client, 'correction', 9_000, 'another fee'),
    'write off less': adjust(client, 'written_off', -3_000, 'given up less'),
    'take a write-off back': adjust(client, 'written_off', -15_000, 'not given up'),
  } satisfies Record<string, Act>
}
