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

const isAdjustment = ({ key }: Step) => key.pk.startsWith('ADJUSTMENT#')
const isEntry = ({ key }: Step) => key.pk.startsWith('JOURNAL#')
const isHead = ({ key }: Step) => key.sk === 'HEAD'

const KEPT_START = withoutClauses(changing(isWindow, 'progress'), 'settledUntil')

export const GUARDS: readonly Guard[] = [
  {
    name: 'the fence on the shard of an entry',
    border: withoutClauses(changing(isShard, 'creditedMinor'), 'closedUntil'),
    scenario: 'a frozen poster writes while a settlement is made',
  },
  {
    name: 'the fence on the shard of an adjustment',
    border: withoutClauses(changing(isShard, 'creditedMinor'), 'closedUntil'),
    scenario: 'an adjustment is written while its client is settled',
  },
  {
    name: 'the fence on the shard of an entry with zeros',
    border: withoutClauses((step) => isShard(step) && step.kind === 'check', 'closedUntil'),
    scenario: 'the late row of a payment comes while its client is settled',
  },
  {
    name: 'the fence on the window at a re-credit',
    border: withoutClauses(changing(isWindow, 'availableMinor'), 'closedUntil'),
    scenario: 'a settlement is re-credited while the next is made',
  },
  {
    name: 'the fence before the sum',
    border: fenceAfterSum,
    scenario: 'a payment is posted while its client is settled',
  },
  {
    name: 'the fence on every shard',
    border: withoutRaiseOf('SHARD#05'),
    scenario: 'a frozen poster writes while a settlement is made',
  },
  {
    name: 'a fence is never lowered',
    border: withoutClauses(isRaise, 'closedUntil'),
    scenario: 'two sweeps settle one client, by clocks that differ',
  },
  {
    name: 'the fence of a shard that is put again is never lowered',
    border: withoutClauses(isRaise, 'closedUntil'),
    scenario: 'two operators let a client grow while it is settled',
  },
  {
    name: 'the second between fence and sum',
    border: { isSleepless: true },
    scenario: 'a payment is posted while its client is settled',
  },
  {
    name: 'the parts as the write that closes the window finds them',
    border: partsAsRead,
    scenario: 'a client grows while it is settled',
  },
  {
    name: 'a client grows on condition of the fence that its new shards have',
    border: withoutClauses(changing(isWindow, 'parts'), 'closedUntil'),
    scenario: 'a client grows while it is settled',
  },
  {
    name: 'the start of the window at the record',
    border: withoutClauses(changing(isWindow, 'lastSettlementId'), 'settledUntil'),
    scenario: 'the sweep and an operator settle one client',
  },
  {
    name: 'the start of a kept sum, at its reading and at its writing',
    border: together(anyStart, KEPT_START),
    scenario: 'a window is summed over several runs and at once, and a payment is posted',
  },
  {
    name: 'money_version of a payment that moves',
    border: withoutClauses(isPayment, 'moneyVersion'),
    scenario: 'a payment is posted while a part of it is refunded',
  },
  {
    name: 'money_version of a payment that is posted already',
    border: withoutClauses(isPayment, 'moneyVersion'),
    scenario: 'two refunds of one payment meet',
  },
  {
    name: 'what is written off, as it was read',
    border: withoutClauses(changing(isWindow, 'writtenOffMinor'), 'writtenOffMinor'),
    scenario: 'a dispute is won while a write-off is taken back',
  },
  {
    name: 'the status of a settlement that is closed',
    border: withoutClauses(changing(isSettlement, 'settledAt'), 'status'),
    scenario: 'a settlement is paid out and marked failed',
  },
  {
    name: 'a settlement is re-credited once',
    border: withoutClauses(changing(isSettlement, 'recreditedAt'), 'recreditedAt'),
    scenario: 'two operators re-credit while a settlement is made',
  },
  {
    name: 'a settlement is re-credited once, and an entry is put if absent',
    border: together(
      withoutClauses(changing(isSettlement, 'recreditedAt'), 'recreditedAt'),
      withoutClauses(isEntry, 'pk'),
    ),
    scenario: 'two operators re-credit one settlement',
  },
  {
    name: 'a reference is adjusted once',
    border: withoutClauses(isAdjustment, 'pk'),
    scenario: 'one adjustment is written twice while a settlement is made',
  },
  {
    name: 'a reference is adjusted once, and an entry is put if absent',
    border: together(withoutClauses(isAdjustment, 'pk'), withoutClauses(isEntry, 'pk')),
    scenario: 'one adjustment is written by two operators',
  },
  {
    name: 'the head of a chain of audit records, as it was read',
    border: withoutClauses(isHead, 'digest', 'pk'),
    scenario: 'two adjustments of one client are written',
  },
]

/** Guards that are not found alone, each with what stands beside it. */
export const BACKED: readonly (Guard & { readonly by: string })[] = [
  {
    name: 'the start of a kept sum at its reading',
    border: anyStart,
    scenario: 'a window is summed over several runs and at once, and a payment is posted',
    by: 'a sum is kept on condition of the start of the window, and a record removes it',
  },
  {
    name: 'the start of the window at the keeping of a sum',
    border: KEPT_START,
    scenario: 'a window is summed over several runs and at once, and a payment is posted',
    by: 'a sum of another start is not read',
  },
  {
    name: 'the number of a kept sum',
    border: withoutClauses(changing(isWindow, 'progress'), 'progressNumber'),
    scenario: 'two sweeps sum one window over several runs',
    by: 'each kept sum is whole in itself: an older one costs time only',
  },
  {
    name: 'open or posted, as the payment was read',
    border: withoutClauses(isPayment, 'openAt'),
    scenario: 'a payment is posted while it is voided',
    by: 'money_version',
  },
  {
    name: 'the fence on the window at a write-off',
    border: withoutClauses(changing(isWindow, 'writtenOffMinor'), 'closedUntil'),
    scenario: 'a write-off is written while its client is settled',
    by: 'the fence on the shard of the same transaction, which is raised after the window',
  },
  {
    name: 'an entry is put if absent',
    border: withoutClauses(isEntry, 'pk'),
    scenario: 'two operators re-credit one settlement',
    by: 'what the entry is about is written in the same transaction, once',
  },
  {
    name: 'a second look at the tail of a window',
    border: oneLook,
    scenario: 'a payment is posted while its client is settled',
    by: 'the second between fence and sum, where transactions are visible within it',
  },
]
