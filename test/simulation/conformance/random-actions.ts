import * as fc from 'fast-check'
import type { IndexName } from '../../../shared/table/schema.ts'
import type { Range } from '../../../shared/table/table.ts'

/** Commands as plain data, so that a counterexample can be read, and be made small. Keys are numbers, 0 to 3. */
export type Action =
  | { readonly kind: 'write'; readonly step: ActionStep }
  | { readonly kind: 'transact'; readonly steps: readonly ActionStep[] }
  | { readonly kind: 'get'; readonly key: number }
  | { readonly kind: 'batch'; readonly keys: readonly number[] }
  | { readonly kind: 'query'; readonly query: ActionQuery }

export type Fields = Readonly<Record<string, unknown>>

export type ActionStep = { readonly key: number; readonly condition: ActionCondition | undefined } & (
  | { readonly kind: 'put'; readonly item: Fields }
  | { readonly kind: 'update'; readonly changes: readonly Change[] }
  | { readonly kind: 'remove' | 'check' }
)

export type Change = {
  readonly how: 'set' | 'setIfAbsent' | 'add' | 'deleteFromSet' | 'remove'
  readonly fields: Fields
}

export type ActionCondition =
  | { readonly test: 'present' | 'absent'; readonly field: string }
  | { readonly test: 'equals' | 'differs' | 'atMost' | 'below' | 'above' | 'contains'; readonly fields: Fields }
  | { readonly test: 'all' | 'any'; readonly of: readonly ActionCondition[] }

export type ActionQuery = {
  readonly index: IndexName | undefined
  /** In the order of the key's attributes; of the table itself a number, of one of its two partitions. */
  readonly partition: readonly unknown[]
  readonly range: Range | undefined
  readonly limit: number
  readonly forward: boolean
  readonly countOnly: boolean
}

const TIMES = ['t1', 't2', 't21', 't3']

/** One of two values, mostly the first, so that items meet in the partitions of the indexes. */
const mostly = (usual: unknown, other: unknown) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 4 }, fc.constant(other))

/** What each field mostly holds: few values, so that writes meet. */
const USUAL: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  amount: fc.integer({ min: -5, max: 5 }),
  text: fc.constantFrom('', 'a', 'ab', 'é😀'),
  flag: fc.boolean(),
  nothing: fc.constant(null),
  tags: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 }).map((tags) => new Set(tags)),
  numbers: fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { minLength: 1 }).map((numbers) => new Set(numbers)),
  list: fc.array(fc.constantFrom(1, 'a', null, true), { maxLength: 2 }),
  map: fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom<unknown>(1, 'a', undefined, [1]), { maxKeys: 2 }),
  owner: mostly('o1', 'o2'),
  entity: mostly('e1', 'e2'),
  status: mostly('s1', 's2'),
  listedAt: fc.constantFrom(...TIMES),
  // Replaced by an id of the item: equal keys of an index have no order that DynamoDB promises.
  id: fc.constant('own'),
  clientId: mostly('o1', 'o2'),
  paidAt: fc.constantFrom(...TIMES),
  netMinor: fc.integer({ min: 0, max: 9 }),
  work: mostly('o1', 'o2'),
  slot: mostly(10, 9),
  dueAt: fc.constantFrom(...TIMES),
}
const FIELDS = Object.keys(USUAL)
const ORDERED = ['amount', 'text', 'status', 'listedAt', 'slot', 'dueAt']

const strange = fc.constantFrom<unknown>('', 0, 'a', false, null, new Set(['x']), new Set([1]), [], {}, undefined)

const valueOf = (field: string, strangeness: number) =>
  fc.oneof(
    { arbitrary: USUAL[field] ?? strange, weight: 100 - strangeness },
    { arbitrary: strange, weight: strangeness },
  )

/** Strange values of index keys are invalid; with too many of them nothing would ever be written. */
const fieldsOf = (fields: readonly string[], strangeness: number): fc.Arbitrary<Fields> =>
  fc.record(Object.fromEntries(fields.map((field) => [field, valueOf(field, strangeness)])))

const someOf = (fields: readonly string[], minLength: number, maxLength: number) =>
  fc.uniqueArray(fc.constantFrom(...fields), { minLength, maxLength, size: 'max' })

const oneOf = (fields: readonly string[], strangeness: number) =>
  fc.constantFrom(...fields).chain((field) => fieldsOf([field], strangeness))

const condition: fc.Arbitrary<ActionCondition> = fc.letrec<{ condition: ActionCondition }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small', maxDepth: 2 },
    fc.record({ test: fc.constantFrom('present', 'absent'), field: fc.constantFrom('pk', ...FIELDS) }),
    fc.record({ test: fc.constantFrom('equals', 'differs', 'contains'), fields: oneOf(FIELDS, 10) }),
    fc.record({ test: fc.constantFrom('atMost', 'below', 'above'), fields: oneOf(ORDERED, 5) }),
    fc.record({
      test: fc.constantFrom('all', 'any'),
      of: fc.oneof(
        { arbitrary: fc.array(tie('condition'), { minLength: 2, maxLength: 3 }), weight: 9 },
        fc.array(tie('condition'), { minLength: 1, maxLength: 1 }),
      ),
    }),
  ),
})).condition

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

const { amount: integer = strange, tags: texts = strange, numbers = strange } = USUAL

/** Operands that fit their action, but not always what the item holds. */
const ADDED = { amount: integer, netMinor: integer, slot: integer, tags: texts, numbers, text: integer, list: texts }
const TAKEN = { tags: texts, numbers, text: texts, amount: numbers }

const operands = (of: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.oneof(...Object.entries(of).map(([field, operand]) => fc.record({ [field]: operand })))

const changing = (how: Change['how'], weight: number, fields: fc.Arbitrary<Fields>) => ({
  arbitrary: fc.record({ how: fc.constant(how), fields }),
  weight,
})

const change: fc.Arbitrary<Change> = fc.oneof(
  changing('set', 12, oneOf(FIELDS, 2)),
  changing('setIfAbsent', 4, oneOf(FIELDS, 2)),
  changing('add', 6, operands(ADDED)),
  changing('add', 1, operands({ tags: numbers, text: texts, amount: strange })),
  changing('deleteFromSet', 4, operands(TAKEN)),
  changing('deleteFromSet', 1, operands({ tags: strange, numbers: texts })),
  changing('remove', 4, oneOf(FIELDS, 0)),
)

const fieldOf = ({ fields }: Change): string => Object.keys(fields)[0] ?? ''

/** Each of another field, but for the few that are invalid. */
const changes: fc.Arbitrary<readonly Change[]> = fc.oneof(
  {
    arbitrary: fc.uniqueArray(change, { minLength: 1, maxLength: 5, selector: fieldOf, size: 'max' }),
    weight: 20,
  },
  fc.array(change, { minLength: 0, maxLength: 3 }),
)

const key = fc.integer({ min: 0, max: 3 })

const step: fc.Arbitrary<ActionStep> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      key,
      item: someOf(FIELDS, 8, FIELDS.length).chain((fields) => fieldsOf(fields, 1)),
      condition: maybe(condition),
    }),
    weight: 3,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      key,
      changes,
      condition: maybe(condition),
    }),
    weight: 4,
  },
  fc.record({ kind: fc.constant('remove' as const), key, condition }),
)

const check: fc.Arbitrary<ActionStep> = fc.record({ kind: fc.constant('check' as const), key, condition })

const partition = {
  table: fc.tuple(fc.constantFrom(0, 1)),
  'by-owner': fc.tuple(fc.constantFrom('o1', 'o2'), fc.constantFrom('e1', 'e2')),
  'by-status': fc.tuple(mostly('o1', 'o2'), mostly('e1', 'e2'), mostly('s1', 's2')),
  'by-paid': fc.tuple(fc.constantFrom('o1', 'o2')),
  'by-due': fc.tuple(fc.constantFrom('o1', 'o2'), fc.constantFrom(0, 10, 9)),
}

const bound = fc.constantFrom('A', 'B#', 'B#1', 't', ...TIMES, 'z')

const range: fc.Arbitrary<Range> = fc.oneof(
  fc.record({ atMost: bound }),
  fc.record({ between: fc.tuple(bound, bound) }),
  fc.record({ beginsWith: bound }),
)

const query: fc.Arbitrary<ActionQuery> = fc
  .constantFrom('table' as const, 'by-owner' as const, 'by-status' as const, 'by-paid' as const, 'by-due' as const)
  .chain((source) =>
    fc.record({
      index: fc.constant(source === 'table' ? undefined : source),
      partition: partition[source],
      range: maybe(range),
      limit: fc.integer({ min: 1, max: 5 }),
      forward: fc.boolean(),
      countOnly: fc.boolean(),
    }),
  )

const action: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('write' as const), step }), weight: 5 },
  {
    arbitrary: fc.record({
      kind: fc.constant('transact' as const),
      steps: fc.uniqueArray(fc.oneof({ arbitrary: step, weight: 4 }, check), {
        minLength: 1,
        maxLength: 3,
        selector: ({ key: at }) => at,
      }),
    }),
    weight: 4,
  },
  fc.record({ kind: fc.constant('get' as const), key }),
  fc.record({
    kind: fc.constant('batch' as const),
    keys: fc.oneof({ arbitrary: fc.uniqueArray(key, { minLength: 1 }), weight: 9 }, fc.array(key, { maxLength: 4 })),
  }),
  { arbitrary: fc.record({ kind: fc.constant('query' as const), query }), weight: 2 },
)

/** An item in every index, for the rest to work on. */
const start: fc.Arbitrary<Action> = fc.record({
  kind: fc.constant('write' as const),
  step: fc.record({
    kind: fc.constant('put' as const),
    key,
    item: fieldsOf(FIELDS, 0),
    condition: fc.constant(undefined),
  }),
})

export const randomActions: fc.Arbitrary<readonly Action[]> = fc
  .tuple(fc.array(start, { maxLength: 4, size: 'max' }), fc.array(action, { minLength: 5, maxLength: 20, size: 'max' }))
  .map(([starts, actions]) => [...starts, ...actions])
