import type { Step } from '../../shared/table/step.ts'
import type { Border } from './scheduler.ts'
import {
  anyStart,
  changing,
  fenceAfterSum,
  isPayment,
  isRaise,
  isSettlement,
  isShard,
  isWindow,
  oneLook,
  partsAsRead,
  together,
  withoutClauses,
  withoutRaiseOf,
} from './take-out.ts'

/** Something that keeps the books right, how to take it out, and the scenario that then goes wrong. */
export type Guard = { readonly name: string; readonly border: Border; readonly scenario: string }

/** Scenarios, each with the guards that it needs. */
type GuardsOf = Readonly<Record<string, Readonly<Record<string, Border>>>>

const guardsOf = (scenarios: GuardsOf): readonly Guard[] =>
  Object.entries(scenarios).flatMap(([scenario, guards]) =>
    Object.entries(guards).map(([name, border]) => ({ name, border, scenario })),
  )

const isAdjustment = ({ key }: Step) => key.pk.startsWith('ADJUSTMENT#')
const isEntry = ({ key }: Step) => key.pk.startsWith('JOURNAL#')
const isHead = ({ key }: Step) => key.sk === 'HEAD'

const KEPT_START = withoutClauses(changing(isWindow, 'progress'), 'settledUntil')
const FENCE_OF_ENTRY = withoutClauses(changing(isShard, 'creditedMinor'), 'closedUntil')
const RECREDIT_ONCE = withoutClauses(changing(isSettlement, 'recreditedAt'), 'recreditedAt')
const NEW_ENTRY = withoutClauses(isEntry, 'pk')
const NEW_ADJUSTMENT = withoutClauses(isAdjustment, 'pk')

export const GUARDS = guardsOf({
  'a frozen poster writes while a settlement is made': {
    'the fence on the shard of an entry': FENCE_OF_ENTRY,
    'the fence on every shard': withoutRaiseOf('SHARD#05'),
  },
  'an adjustment is written while its client is settled': {
    'the fence on the shard of an adjustment': FENCE_OF_ENTRY,
  },
  'the late row of a payment comes while its client is settled': {
    'the fence on the shard of an entry with zeros': withoutClauses(
      (step) => isShard(step) && step.kind === 'check',
      'closedUntil',
    ),
  },
  'a settlement is re-credited while the next is made': {
    'the fence on the window at a re-credit': withoutClauses(changing(isWindow, 'availableMinor'), 'closedUntil'),
  },
  'a payment is posted while its client is settled': {
    'the fence before the sum': fenceAfterSum,
    'the second between fence and sum': { isSleepless: true },
  },
  'two sweeps settle one client, by clocks that differ': {
    'a fence is never lowered': withoutClauses(isRaise, 'closedUntil'),
  },
  'two operators let a client grow while it is settled': {
    'the fence of a shard that is put again is never lowered': withoutClauses(isRaise, 'closedUntil'),
  },
  'a client grows while it is settled': {
    'the parts as the write that closes the window finds them': partsAsRead,
    'a client grows on condition of the fence that its new shards have': withoutClauses(
      changing(isWindow, 'parts'),
      'closedUntil',
    ),
  },
  'the sweep and an operator settle one client': {
    'the start of the window at the record': withoutClauses(changing(isWindow, 'lastSettlementId'), 'settledUntil'),
  },
  'a window is summed over several runs and at once, and a payment is posted': {
    'the start of a kept sum, at its reading and at its writing': together(anyStart, KEPT_START),
  },
  'a payment is posted while a part of it is refunded': {
    'money_version of a payment that moves': withoutClauses(isPayment, 'moneyVersion'),
  },
  'two refunds of one payment meet': {
    'money_version of a payment that is posted already': withoutClauses(isPayment, 'moneyVersion'),
  },
  'a dispute is won while a write-off is taken back': {
    'what is written off, as it was read': withoutClauses(changing(isWindow, 'writtenOffMinor'), 'writtenOffMinor'),
  },
  'a settlement is paid out and marked failed': {
    'the status of a settlement that is closed': withoutClauses(changing(isSettlement, 'settledAt'), 'status'),
  },
  'two operators re-credit while a settlement is made': {
    'a settlement is re-credited once': RECREDIT_ONCE,
  },
  'two operators re-credit one settlement': {
    'a settlement is re-credited once, and an entry is put if absent': together(RECREDIT_ONCE, NEW_ENTRY),
  },
  'one adjustment is written twice while a settlement is made': {
    'a reference is adjusted once': NEW_ADJUSTMENT,
  },
  'one adjustment is written by two operators': {
    'a reference is adjusted once, and an entry is put if absent': together(NEW_ADJUSTMENT, NEW_ENTRY),
  },
  'two adjustments of one client are written': {
    'the head of a chain of audit records, as it was read': withoutClauses(isHead, 'digest', 'pk'),
  },
})

/** Guards whose absence alone is not found: each has a second guard. */
export const BACKED = guardsOf({
  'a window is summed over several runs and at once, and a payment is posted': {
    // Beside it: a sum is kept on condition of the start of the window, and a record removes it.
    'the start of a kept sum at its reading': anyStart,
    // Beside it: a sum of another start is not read.
    'the start of the window at the keeping of a sum': KEPT_START,
  },
  'two sweeps sum one window over several runs': {
    // Beside it: each kept sum is whole in itself: an older one costs time only.
    'the number of a kept sum': withoutClauses(changing(isWindow, 'progress'), 'progressNumber'),
  },
  'a payment is posted while it is voided': {
    // Beside it: money_version.
    'open or posted, as the payment was read': withoutClauses(isPayment, 'openAt'),
  },
  'a write-off is written while its client is settled': {
    // Beside it: the fence on the shard of the same transaction, which is raised after the window.
    'the fence on the window at a write-off': withoutClauses(changing(isWindow, 'writtenOffMinor'), 'closedUntil'),
  },
  'two operators re-credit one settlement': {
    // Beside it: what the entry is about is written in the same transaction, once.
    'an entry is put if absent': NEW_ENTRY,
  },
  'a payment is posted while its client is settled': {
    // Beside it: the second between fence and sum, where transactions are visible within it.
    'a second look at the tail of a window': oneLook,
  },
})
