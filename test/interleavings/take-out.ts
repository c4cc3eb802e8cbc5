/** Ways to take a guard out at the border between the actions and the table. The product's code is never changed. */
import type { TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import { type Condition, exists, type Step } from '../../shared/table/step.ts'
import type { Border } from './scheduler.ts'

type Clause = Exclude<Condition, { readonly of: readonly Condition[] }>

/** The condition without the clauses that match; undefined when none is left. */
const without = (condition: Condition | undefined, matches: (clause: Clause) => boolean): Condition | undefined => {
  if (condition === undefined) return undefined
  if (!('of' in condition)) return matches(condition) ? undefined : condition
  const of = condition.of.map((one) => without(one, matches)).filter((one) => one !== undefined)
  return of.length === 0 ? undefined : { ...condition, of }
}

/** Every write passes through `change`. */
const changingSteps =
  (change: (step: Step) => Step) =>
  (requests: TableRequests): TableRequests => ({
    ...requests,
    write: (step) => requests.write(change(step)),
    transact: (steps) => requests.transact(steps.map(change)),
  })

/** Drops the clauses about one of the fields from the conditions of the steps that are meant. */
export const withoutClauses = (isMeant: (step: Step) => boolean, ...fields: readonly string[]): Border => ({
  requests: changingSteps((step) => {
    if (!isMeant(step)) return step
    const condition = without(step.condition, ({ field }) => fields.includes(field))
    // A check and a delete have a condition always.
    return {
      ...step,
      condition: step.kind === 'check' || step.kind === 'delete' ? (condition ?? exists) : condition,
    } as Step
  }),
})

/** Several guards at once. */
export const together = (...borders: readonly Border[]): Border => ({
  requests: (requests) => borders.reduce((inner, border) => border.requests?.(inner) ?? inner, requests),
})

export const isShard = ({ key }: Step): boolean => key.sk.startsWith('SHARD#')
export const isWindow = ({ key }: Step): boolean => key.sk === 'WINDOW'
export const isSettlement = ({ key }: Step): boolean => key.sk === 'SETTLEMENT'
export const isPayment = ({ key }: Step): boolean => key.sk === 'PAYMENT'

/** A field that an update sets or adds to. */
const changes = (step: Step, field: string): boolean =>
  step.kind === 'update' && (field in (step.changes.set ?? {}) || field in (step.changes.add ?? {}))

export const changing =
  (isItem: (step: Step) => boolean, field: string) =>
  (step: Step): boolean =>
    isItem(step) && changes(step, field)

/** A step of the fence itself: it raises `closedUntil` and changes nothing else. */
export const isRaise = (step: Step): boolean => isShard(step) && changes(step, 'closedUntil')

/** A border that answers some requests in its own way. */
const border = (own: (requests: TableRequests) => Partial<TableRequests>): Border => ({
  requests: (requests) => ({ ...requests, ...own(requests) }),
})

/** The raises of shards reach the table just before the next transaction of their action: after the sum. */
export const fenceAfterSum = border((requests) => {
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
export const withoutRaiseOf = (sk: string): Border =>
  border((requests) => ({
    write: async (step) =>
      isRaise(step) && step.kind === 'update' && step.key.sk === sk
        ? { applied: true, item: { ...step.changes.set } }
        : requests.write(step),
  }))

/** The answer to the write that closes the window names the parts of an earlier read. */
export const partsAsRead = border((requests) => {
  let parts: unknown
  return {
    get: async (key, some) => {
      const item = await requests.get(key, some)
      if (key.sk === 'WINDOW') parts = item?.['parts']
      return item
    },
    write: async (step) => {
      const outcome = await requests.write(step)
      return isWindow(step) && outcome.item ? { ...outcome, item: { ...outcome.item, parts } } : outcome
    },
  }
})

/** A sum that was kept for another window counts for the one that is read. */
export const anyStart = border((requests) => ({
  get: async (key, some) => {
    const item = await requests.get(key, some)
    const progress = item?.['progress']
    if (item === undefined || progress === undefined) return item
    return { ...item, progress: { ...Object(progress), start: item['settledUntil'] } }
  },
}))

/** The tail of a window is read once: a second reading is answered as the first was. */
export const oneLook = border((requests) => {
  const looks = new Map<string, ReturnType<TableRequests['query']>>()
  return {
    query: (input) => {
      const text = JSON.stringify(input)
      const answer = looks.get(text) ?? requests.query(input)
      looks.set(text, answer)
      return answer
    },
  }
})
