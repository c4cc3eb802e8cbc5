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

const WINDOW_START = withoutClauses(changing(isWindow, 'progress'), 'settledUntil')

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
  { name: 'the fence before the sum', border: fenceAfterSum, scenario: 'a payment is posted while its client is settled' },
  {
    name: 'the fence on every shard',
    border: withoutRaiseOf('SHARD#05'),
    scenario: 'a frozen poster writes while a settlement is made',
  },
  {
    name: 'a fence is never lowered',
    border: withoutClauses(isRaise, 'closedUntil'),
    scenario: 'a frozen poster writes after two settlements',
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
    name: 'the number of a kept sum',
    border: withoutClauses(changing(isWindow, 'progress'), 'progressNumber'),
    scenario: 'two sweeps sum one window over several runs',
  },
  {
    name: 'the start of a kept sum, at its reading and at its writing',
    border: together(anyStart, WINDOW_START),
    scenario: 'two sweeps sum one window over several runs',
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
    border: together(withoutClauses(changing(isSettlement, 'recreditedAt'), 'recreditedAt'), withoutClauses(isEntry, 'pk')),
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
