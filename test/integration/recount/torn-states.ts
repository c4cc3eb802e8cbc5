import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import type { Key } from '../../../shared/table/keys.ts'
import type { Step } from '../../../shared/table/step.ts'
import type { Timestamp } from '../../../shared/time.ts'
import { type FakeProvider, fakeProvider } from '../../support/fake-provider.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { type MemoryDeps, memoryDeps } from '../../support/memory-deps.ts'

/** One item that a transaction wrote, as it was before and is after it. */
type Written = { readonly key: Key; readonly before: StoredItem | undefined; readonly after: StoredItem | undefined }

/** A transaction as it was made, with the whole table right after it. */
export type Recorded = {
  readonly written: readonly Written[]
  readonly items: readonly StoredItem[]
  readonly provider: FakeProvider
  readonly at: Timestamp
}

const nameOf = ({ pk, sk }: Key): string => `${pk} ${sk}`

/** The provider as it is now: what a torn world asks of it changes no other one. */
const copyOf = (provider: FakeProvider): FakeProvider => {
  const copy = fakeProvider()
  for (const [id, request] of provider.requests) copy.requests.set(id, request)
  for (const [id, payment] of provider.payments) copy.payments.set(id, payment)
  copy.transactions.push(...provider.transactions)
  return copy
}

/** Does something, and records every transaction of it that was applied. */
export const recordTransactions = async (
  deps: MemoryDeps,
  act: (deps: MemoryDeps) => Promise<unknown>,
): Promise<readonly Recorded[]> => {
  const recorded: Recorded[] = []
  let before: Written[] = []
  const writes = (steps: readonly Step[]) => steps.filter(({ kind }) => kind !== 'check').map(({ key }) => key)
  const intercepted = interceptTable(deps, {
    before: (call) => {
      if (call.name !== 'transact') return
      before = writes(call.steps).map((key) => ({ key, before: deps.stored.item(key), after: undefined }))
    },
    after: (call) => {
      if (call.name !== 'transact') return
      const written = before.map((one) => ({ ...one, after: deps.stored.item(one.key) }))
      recorded.push({ written, items: deps.stored.items(), provider: copyOf(deps.provider), at: deps.now() })
    },
  })
  await act({ ...intercepted, stored: deps.stored, changes: deps.changes })
  return recorded
}

/** Which items of a transaction a restore brought: `true` for each that is there as the transaction wrote it. */
type Torn = readonly boolean[]

/** Each item missing, each item alone, each prefix. */
const tornOf = (count: number): readonly Torn[] => {
  const all = Array.from({ length: count }, (_, at) => at)
  const torn = all.flatMap((at) => [
    all.map((other) => other !== at),
    all.map((other) => other === at),
    all.map((other) => other < at),
  ])
  return [...new Map(torn.map((one) => [one.join(), one])).values()]
}

/** The name of an item in a test's title: its kind, numbered. */
const titleOf = ({ key: { pk, sk } }: Written): string => {
  const [kind = ''] = pk.split('#')
  if (kind === 'JOURNAL') return 'entry'
  if (kind === 'LEDGER') return sk.startsWith('WINDOW') ? 'window' : 'shard'
  if (kind === 'PAYMENT') return sk.startsWith('EVENT') ? 'event' : 'payment'
  return kind.toLowerCase()
}

export type TornState = { readonly title: string; readonly world: () => MemoryDeps }

/** The table after the last of these transactions, with what a restore brought of each. */
const worldOf = (recorded: readonly Recorded[], kept: readonly Torn[]): MemoryDeps => {
  const last = recorded.at(-1)
  if (last === undefined) throw new Error('no transaction was recorded')
  const replaced = new Map<string, StoredItem | undefined>()
  for (const [at, { written }] of recorded.entries()) {
    for (const [n, { key, before, after }] of written.entries()) {
      // Of an item that both wrote, the second is not there without the first.
      if (kept[at]?.[n]) replaced.set(nameOf(key), after)
      else if (!replaced.has(nameOf(key))) replaced.set(nameOf(key), before)
    }
  }
  const rest = last.items.filter(({ pk, sk }) => !replaced.has(nameOf({ pk: String(pk), sk: String(sk) })))
  const torn = [...replaced.values()].filter((item) => item !== undefined)
  const deps = { ...memoryDeps({}, [...rest, ...torn]), provider: copyOf(last.provider) }
  deps.clock.set(last.at)
  return deps
}

const titleOfTorn = ({ written }: Recorded, kept: Torn): string =>
  `only ${written
    .filter((_, n) => kept[n])
    .map(titleOf)
    .join(', ')}`

/** Every table that a restore can leave of a transaction. */
export const tornStates = (recorded: Recorded): readonly TornState[] =>
  tornOf(recorded.written.length).map((kept) => ({
    title: titleOfTorn(recorded, kept),
    world: () => worldOf([recorded], [kept]),
  }))

/** Every table that a restore can leave of two transactions, one after the other. */
export const tornTogether = (recorded: readonly Recorded[]): readonly TornState[] => {
  const [first, second] = recorded
  if (first === undefined || second === undefined) throw new Error('two transactions are torn together')
  return tornOf(first.written.length).flatMap((one) =>
    tornOf(second.written.length).map((other) => ({
      title: `${titleOfTorn(first, one)}; ${titleOfTorn(second, other)}`,
      world: () => worldOf(recorded, [one, other]),
    })),
  )
}

/** The table with all of a transaction. */
export const wholeState = (recorded: Recorded): MemoryDeps => worldOf([recorded], [recorded.written.map(() => true)])
