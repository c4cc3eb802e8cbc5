/** The gateway's code is never changed. */
import type { TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import { type Condition, exists, type Step } from '../../shared/table/step.ts'
import type { Border } from './scheduler.ts'

type Clause = Exclude<Condition, { readonly of: readonly Condition[] }>

/**
 * The steps that raise shards reach the table after the sum, just before the next transaction of
 * their action.
 */
const fenceAfterSum = border((requests) => {
  let put: Step[] = []
  return {
    write: async (step) => {
      if (!isRaise(step) || step.kind !== 'update') return requests.write(step)
      put.push(step)
      return { applied: true, item: { ...step.changes.set } }
    },
    transact: async (steps) => {
      const raises = put
      put = []
      await Promise.all(raises.map((step) => requests.write(step)))
      return requests.transact(steps)
    },
  }
})

/** One shard is never raised. */
const withoutOneRaise = border((requests) => ({
  write: async (step) =>
    isRaise(step) && step.kind === 'update' && step.key.sk === 'SHARD#05'
      ? { applied: true, item: { ...step.changes.set } }
      : requests.write(step),
}))

/** A sum that was stored for another window counts for the window that is read. */
const anyStart = border((requests) => ({
  get: async (key, some) => {
    const item = await requests.get(key, some)
    const progress = item?.['progress']
    if (item === undefined || progress === undefined) return item
    return { ...item, progress: { ...Object(progress), start: item['settledUntil'] } }
  },
}))

const FENCE_OF_ENTRY = withoutClauses(changing(isShard, 'creditedMinor'), 'closedUntil')
const RECREDIT_ONCE = withoutClauses(changing(isSettlement, 'recreditedAt'), 'recreditedAt')
const NEW_ENTRY = withoutClauses(({ key }) => key.pk.startsWith('JOURNAL#'), 'pk')
const NEW_ADJUSTMENT = withoutClauses(({ key }) => key.pk.startsWith('ADJUSTMENT#'), 'pk')

/** Two operators use the same approval, so its single use refuses one of them, too. */
const APPROVAL_ONCE = withoutClauses(({ key }) => key.sk === 'APPROVAL', 'usedAt', 'at')

/**
 * `npm run interleavings` prints the turns of the schedule that goes wrong. Where such a schedule
 * comes late, the search begins with it; when it fits no longer, the search takes longer.
 */
type Guard = Border & { readonly first?: string }

const GUARDS_OF: Readonly<Record<string, Readonly<Record<string, Guard>>>> = {
  'a frozen poster writes while a settlement is made': {
    'the fence on the shard of an entry': FENCE_OF_ENTRY,
    'the fence on every shard': withoutOneRaise,
  },
  'an adjustment is written while its client is settled': {
    'the fence on the shard of an adjustment': { ...FENCE_OF_ENTRY, first: '2:3' },
  },
  'the late row of a payment comes while its client is settled': {
    'the fence on the shard of an entry with zeros': {
      ...withoutClauses((step) => isShard(step) && step.kind === 'check', 'closedUntil'),
      first: '2:3',
    },
  },
  'a settlement is re-credited while the next is made': {
    'the fence on the window at a re-credit': {
      ...withoutClauses(changing(isWindow, 'availableMinor'), 'closedUntil'),
      first: '3:3',
    },
  },
  'a payment is posted while its client is settled': {
    'the fence before the sum': { ...fenceAfterSum, first: '0:1 4:1 5:1 6:3' },
    'the second between fence and sum': { isSleepless: true, first: '1:1 2:3' },
  },
  'two sweeps settle one client, by clocks that differ': {
    'a fence is never lowered': withoutClauses(isRaise, 'closedUntil'),
  },
  'the sweep and an operator settle one client': {
    'the start of the window at the record': withoutClauses(
      changing(isWindow, 'lastSettlementId'),
      'settledUntil',
    ),
  },
  'a window is summed over several runs and at once, and a payment is posted': {
    'the start of a kept sum, at its reading and at its writing': {
      ...together(anyStart, withoutClauses(changing(isWindow, 'progress'), 'settledUntil')),
      first: '21:2 24:1',
    },
  },
  'a payment is posted while a part of it is refunded': {
    'money_version of a payment that moves': withoutClauses(isPayment, 'moneyVersion'),
  },
  'two refunds of one payment meet': {
    'money_version of a payment that is posted already': withoutClauses(isPayment, 'moneyVersion'),
  },
  'a dispute is won while a write-off is taken back': {
    'what is written off, as it was read': withoutClauses(
      changing(isWindow, 'writtenOffMinor'),
      'writtenOffMinor',
    ),
  },
  'a settlement is paid out and marked failed': {
    'the status of a settlement that is closed': withoutClauses(
      changing(isSettlement, 'settledAt'),
      'status',
    ),
  },
  'two operators re-credit while a settlement is made': {
    'a settlement is re-credited once': {
      ...together(RECREDIT_ONCE, APPROVAL_ONCE),
      first: '0:1 7:2 8:1 29:1',
    },
  },
  'two operators re-credit one settlement': {
    'a settlement is re-credited once, and an entry is put if absent': together(
      RECREDIT_ONCE,
      APPROVAL_ONCE,
      NEW_ENTRY,
    ),
  },
  'one adjustment is written twice while a settlement is made': {
    'a reference is adjusted once': {
      ...together(NEW_ADJUSTMENT, APPROVAL_ONCE),
      first: '0:1 5:2 6:1 26:1',
    },
  },
  'one adjustment is written by two operators': {
    'a reference is adjusted once, and an entry is put if absent': together(
      NEW_ADJUSTMENT,
      APPROVAL_ONCE,
      NEW_ENTRY,
    ),
  },
  'two adjustments of one client are written': {
    'the head of a chain of audit records, as it was read': withoutClauses(
      ({ key }) => key.sk === 'HEAD',
      'digest',
      'pk',
    ),
  },
}

export const GUARDS = Object.entries(GUARDS_OF).flatMap(([scenario, guards]) =>
  Object.entries(guards).map(([name, own]) => ({ name, border: own, first: own.first, scenario })),
)

function border(own: (requests: TableRequests) => Partial<TableRequests>): Border {
  return { requests: (requests) => ({ ...requests, ...own(requests) }) }
}

/** A step of the fence itself: it raises `closedUntil` and changes nothing else. */
function isRaise(step: Step) {
  return isShard(step) && changes(step, 'closedUntil')
}

function isShard({ key }: Step) {
  return key.sk.startsWith('SHARD#')
}

function changes(step: Step, field: string) {
  return (
    step.kind === 'update' &&
    (field in (step.changes.set ?? {}) || field in (step.changes.add ?? {}))
  )
}

function isWindow({ key }: Step) {
  return key.sk === 'WINDOW'
}

function withoutClauses(isMeant: (step: Step) => boolean, ...fields: readonly string[]) {
  const change = (step: Step) => {
    if (!isMeant(step)) return step
    // A check and a delete always have a condition.
    const least = step.kind === 'check' || step.kind === 'delete' ? exists : undefined
    return {
      ...step,
      condition: without(step.condition, ({ field }) => fields.includes(field)) ?? least,
    } as Step
  }
  return border(({ write, transact }) => ({
    write: (step) => write(change(step)),
    transact: (steps) => transact(steps.map(change)),
  }))
}

/** Undefined when no clause is left. */
function without(
  condition: Condition | undefined,
  matches: (clause: Clause) => boolean,
): Condition | undefined {
  if (condition === undefined) return undefined
  if (!('of' in condition)) return matches(condition) ? undefined : condition
  const of = condition.of.map((one) => without(one, matches)).filter((one) => one !== undefined)
  return of.length === 0 ? undefined : { ...condition, of }
}

function changing(isItem: (step: Step) => boolean, field: string) {
  return (step: Step) => isItem(step) && changes(step, field)
}

function isSettlement({ key }: Step) {
  return key.sk === 'SETTLEMENT'
}

function together(...borders: readonly Border[]): Border {
  return {
    requests: (requests) =>
      borders.reduce((inner, layer) => layer.requests?.(inner) ?? inner, requests),
  }
}

function isPayment({ key }: Step) {
  return key.sk === 'PAYMENT'
}
