import { expect } from 'vitest'
import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { auditLedger } from '../../../shared/audit/run-audits.ts'
import type { Client } from '../../../shared/client/client.ts'
import { creditedOf, readLedger } from '../../../shared/ledger/ledger-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { eventKey, type Key } from '../../../shared/table/keys.ts'
import { exists, remove, type Step } from '../../../shared/table/step.ts'
import type { Timestamp } from '../../../shared/time.ts'
import type { Difference } from '../../../shared/verdict/difference.ts'
import { type FakeProvider, fakeProvider } from '../../support/fake-provider.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  payOut,
  settlementsOf,
  sweepADayLater,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import {
  interceptTable,
  type MemoryDeps,
  memoryDeps,
  type TestDeps,
} from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { type Flow, receiveEverything } from './torn-flows.ts'

export async function differencesOf(
  deps: TestDeps,
  { clientId }: Client,
): Promise<readonly Difference[]> {
  return (await auditLedger(deps, clientId)).differences
}

/** Recounts these differences; unless they are given, all that the audit shows. */
export async function recount(deps: TestDeps, client: Client, given?: readonly Difference[]) {
  const expected = given ?? (await differencesOf(deps, client))
  if (expected.length === 0) return { written: [], left: [] }
  return recountLedger(deps, { clientId: client.clientId, expected, operator: 'ana' })
}

/** The recount refuses these differences, or all that the audit shows, and writes nothing. */
export async function expectRefused(
  deps: MemoryDeps,
  client: Client,
  refusal: object,
  of?: readonly Difference[],
) {
  const expected = of ?? (await differencesOf(deps, client))
  deps.changes.length = 0

  await expect(recount(deps, client, expected)).rejects.toMatchObject(refusal)

  expect(deps.changes).toStrictEqual([])
}

export function removeEvent(deps: MemoryDeps, _: Client, { paymentId }: Payment) {
  return deps.table.write(remove(eventKey(paymentId, 'payment.succeeded'), exists))
}

/** One item that a transaction wrote, as it was before and is after it. */
type Written = {
  readonly key: Key
  readonly before: StoredItem | undefined
  readonly after: StoredItem | undefined
}

/** A transaction as it was made, with the whole table right after it. */
export type Recorded = {
  readonly written: readonly Written[]
  readonly items: readonly StoredItem[]
  readonly provider: FakeProvider
  readonly at: Timestamp
}

export async function recordTransactions(
  deps: MemoryDeps,
  act: (deps: MemoryDeps) => Promise<unknown>,
): Promise<readonly Recorded[]> {
  const recorded: Recorded[] = []
  let before: Written[] = []
  const writes = (steps: readonly Step[]) =>
    steps.filter(({ kind }) => kind !== 'check').map(({ key }) => key)
  const intercepted = interceptTable(deps, {
    before: (call) => {
      if (call.name !== 'transact') return
      before = writes(call.steps).map((key) => ({
        key,
        before: deps.stored.item(key),
        after: undefined,
      }))
    },
    after: (call) => {
      if (call.name !== 'transact') return
      const written = before.map((one) => ({ ...one, after: deps.stored.item(one.key) }))
      recorded.push({
        written,
        items: deps.stored.items(),
        provider: copyOf(deps.provider),
        at: deps.now(),
      })
    },
  })
  await act({ ...intercepted, stored: deps.stored, changes: deps.changes })
  return recorded
}

/** A copy of the provider, so that calls of one torn world change no other world. */
function copyOf(provider: FakeProvider): FakeProvider {
  const copy = fakeProvider()
  for (const [id, request] of provider.requests) copy.requests.set(id, request)
  for (const [id, payment] of provider.payments) copy.payments.set(id, payment)
  copy.transactions.push(...provider.transactions)
  return copy
}

/** Which items of a transaction a restore brought: `true` for each that is there as the transaction wrote it. */
type Cut = readonly boolean[]

type TornState = { readonly title: string; readonly world: () => MemoryDeps }

/** Every table that a restore can leave of these transactions, one after the other. */
export function tornStates(recorded: readonly Recorded[]): readonly TornState[] {
  const cuts = recorded.reduce<readonly (readonly Cut[])[]>(
    (before, { written }) =>
      before.flatMap((kept) => cutsOf(written.length).map((cut) => [...kept, cut])),
    [[]],
  )
  const titleOfTorn = ({ written }: Recorded, kept: Cut | undefined) =>
    `only ${written.flatMap((one, n) => (kept?.[n] ? titleOf(one) : [])).join(', ')}`
  return cuts.map((kept) => ({
    title: recorded.map((one, at) => titleOfTorn(one, kept[at])).join('; '),
    world: () => worldOf(recorded, kept),
  }))
}

/** Each item missing, each item alone, each prefix. */
function cutsOf(count: number): readonly Cut[] {
  const all = Array.from({ length: count }, (_, at) => at)
  const torn = all.flatMap((at) => [
    all.map((other) => other !== at),
    all.map((other) => other === at),
    all.map((other) => other < at),
  ])
  return [...new Map(torn.map((one) => [one.join(), one])).values()]
}

/** The name of an item in a test's title: its kind. */
function titleOf({ key: { pk, sk } }: Written): string {
  const [kind] = pk.startsWith('JOURNAL') ? ['entry'] : sk.split('#')
  return String(kind).toLowerCase()
}

/** The table after the last of these transactions, with what a restore brought of each. */
function worldOf(recorded: readonly Recorded[], kept: readonly Cut[]): MemoryDeps {
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
  const runRestOfTime = last.items.filter(
    ({ pk, sk }) => !replaced.has(nameOf({ pk: String(pk), sk: String(sk) })),
  )
  const torn = [...replaced.values()].filter((item) => item !== undefined)
  const deps = { ...memoryDeps({}, [...runRestOfTime, ...torn]), provider: copyOf(last.provider) }
  deps.clock.set(last.at)
  return deps
}

function nameOf({ pk, sk }: Key): string {
  return `${pk} ${sk}`
}

/** A client with `endpoints` endpoints, which all get both kinds of events. */
export async function clientWithEndpoints(endpoints: number) {
  const deps = memoryDeps()
  const client = await withoutFloor(deps)
  for (let at = 0; at < endpoints; at++) {
    await storedEndpoint(deps, { clientId: client.clientId, eventTypes: ['*', 'payment.reversed'] })
  }
  return { deps, client }
}

/** Every torn state of every transaction of a flow, and the end that the whole transaction comes to. */
export async function tornOf(flow: Flow) {
  const { deps, client } = await clientWithEndpoints(2)
  deps.clock.advance(60)
  const recorded = await recordTransactions(deps, await flow(deps, client))
  const states = recorded.flatMap((one, at) =>
    tornStates([one]).map((state) => ({ ...state, title: `${at + 1}: ${state.title}` })),
  )
  const whole = recorded.at(-1)
  if (whole === undefined) throw new Error('the flow made no transaction')
  return {
    client,
    states,
    end: await rest(worldOf([whole], [whole.written.map(() => true)]), client),
  }
}

/**
 * The provider calls again about everything, twice, and everything is paid out. Answers what the client was credited and
 * paid, the money that was held, and how its payments ended.
 */
async function rest(deps: MemoryDeps, client: Client) {
  for (let time = 0; time < 2; time++) {
    await receiveEverything(deps)
    await expectBalanced(deps, client.clientId)
  }
  // The next day's settlement is made, and every settlement passes the payout gate: nothing is stuck.
  await sweepADayLater(deps, client)
  for (const settlement of await settlementsOf(deps, client)) {
    if (settlement.status === 'recorded') await payOut(deps, settlement)
  }
  await expectBalanced(deps, client.clientId)
  const ledger = await readLedger(deps, client.clientId)
  const held = deps.stored
    .items('SUSPENSE#')
    .flatMap(({ kind, pk }) => (kind === 'money' ? [String(pk)] : []))
  const payments = deps.stored.items('PAYMENT#').filter(({ sk }) => sk === 'PAYMENT')
  const ended = payments.filter(({ status }) => status !== 'creating' && status !== 'pending')
  const ends = ended.map(({ pk, status }) => `${String(pk)} ${String(status)}`)
  return { credited: creditedOf(ledger), paidOut: ledger.window.paidOutMinor, held, ends }
}

export async function expectHealed(
  deps: MemoryDeps,
  { client, end }: Awaited<ReturnType<typeof tornOf>>,
) {
  await expectBalanced(deps, client.clientId)
  expect(await rest(deps, client)).toStrictEqual(end)
}
