import { expect } from 'vitest'
import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import type { Client } from '../../../shared/client/client.ts'
import { creditedOf, readLedger } from '../../../shared/ledger/ledger-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import type { Parts } from '../../../shared/recount/find-differences.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { type Key } from '../../../shared/table/keys.ts'
import { type Step } from '../../../shared/table/step.ts'
import { addMs, HOUR_MS, type Timestamp } from '../../../shared/time.ts'
import { type FakeProvider, fakeProvider } from '../../support/fake-provider.ts'
import { succeededKey } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aLoneClient,
  payOut,
  settlementsOf,
  sweepADayLater,
} from '../../support/settlement-builders.ts'
import { erase } from '../../support/tampering.ts'
import {
  interceptTable,
  type MemoryDeps,
  memoryDeps,
  type TestDeps,
} from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { type Flow, receiveEverything } from './torn-flows.ts'

export async function differencesOf(deps: TestDeps, { clientId }: Client) {
  return (await auditLedger(deps, clientId)).differences
}

export async function recount(
  deps: TestDeps,
  client: Pick<Client, 'clientId'> | 'gateway',
  part: Parts = {},
) {
  const clientId = client === 'gateway' ? undefined : client.clientId
  const ask = { clientId, operator: 'ana', ...part }
  const { plan } = await recountLedger(deps, ask)
  return recountLedger(deps, { ...ask, plan })
}

/** The plan names a difference that it does not repair. */
export async function expectNamed(deps: TestDeps, client: Client, named: object) {
  const { clientId } = client
  const answer = await recountLedger(deps, { clientId, operator: 'ana' })
  expect(answer.not_repairable).toContainEqual(expect.objectContaining(named))
  return answer
}

export function removeEvent(deps: MemoryDeps, _: Client, { paymentId }: Payment) {
  return erase(deps, succeededKey({ paymentId }))
}

type WrittenItem = {
  readonly key: Key
  readonly before: StoredItem | undefined
  readonly after: StoredItem | undefined
}

type RecordedTransaction = {
  readonly written: readonly WrittenItem[]
  readonly items: readonly StoredItem[]
  readonly provider: FakeProvider
  readonly at: Timestamp
}

export async function recordTransactions(
  deps: MemoryDeps,
  act: (deps: MemoryDeps) => Promise<unknown>,
) {
  const transactions: RecordedTransaction[] = []
  let itemsBefore: WrittenItem[] = []
  const writes = (steps: readonly Step[]) =>
    steps.filter(({ kind }) => kind !== 'check').map(({ key }) => key)
  const intercepted = interceptTable(deps, {
    before: (call) => {
      if (call.name !== 'transact') return
      itemsBefore = writes(call.steps).map((key) => ({
        key,
        before: deps.stored.item(key),
        after: undefined,
      }))
    },
    after: (call) => {
      if (call.name !== 'transact') return
      const written = itemsBefore.map((item) => ({ ...item, after: deps.stored.item(item.key) }))
      transactions.push({
        written,
        items: deps.stored.items(),
        provider: copyOf(deps.provider),
        at: deps.now(),
      })
    },
  })
  await act({ ...intercepted, stored: deps.stored, changes: deps.changes })
  return transactions
}

/** A copy of the provider, so that calls of one torn world change no other world. */
function copyOf(provider: FakeProvider) {
  const copy = fakeProvider()
  for (const [id, request] of provider.requests) copy.requests.set(id, request)
  for (const [id, payment] of provider.payments) copy.payments.set(id, payment)
  copy.transactions.push(...provider.transactions)
  return copy
}

/**
 * For each item of a transaction: `true` if the restored table has the item as the transaction
 * wrote it.
 */
type Cut = readonly boolean[]

export function tornStates(transactions: readonly RecordedTransaction[]) {
  const cuts = transactions.reduce<readonly (readonly Cut[])[]>(
    (before, { written }) =>
      before.flatMap((kept) => cutsOf(written.length).map((cut) => [...kept, cut])),
    [[]],
  )
  const titleOfTorn = ({ written }: RecordedTransaction, kept: Cut | undefined) =>
    `only ${written.flatMap((item, n) => (kept?.[n] ? titleOf(item) : [])).join(', ')}`
  return cuts.map((kept) => ({
    title: transactions.map((transaction, at) => titleOfTorn(transaction, kept[at])).join('; '),
    world: () => worldOf(transactions, kept),
  }))
}

function cutsOf(count: number) {
  const all = Array.from({ length: count }, (_, at) => at)
  const torn = all.flatMap((at) => [
    all.map((other) => other !== at),
    all.map((other) => other === at),
    all.map((other) => other < at),
  ])
  return [...new Map(torn.map((cut) => [cut.join(), cut])).values()]
}

function titleOf({ key: { pk, sk } }: WrittenItem) {
  if (pk.startsWith('JOURNAL#')) return 'entry'
  if (pk.startsWith('NOTED#')) return 'noted'
  const [kind] = (pk.startsWith('EVENT#') ? pk : sk).split('#')
  return String(kind).toLowerCase()
}

function worldOf(transactions: readonly RecordedTransaction[], kept: readonly Cut[]) {
  const last = transactions.at(-1)
  if (last === undefined) throw new Error('no transaction was recorded')
  const replaced = new Map<string, StoredItem | undefined>()
  for (const [at, { written }] of transactions.entries()) {
    for (const [n, { key, before, after }] of written.entries()) {
      // If two transactions wrote an item, its second version includes the first.
      if (kept[at]?.[n]) replaced.set(nameOf(key), after)
      else if (!replaced.has(nameOf(key))) replaced.set(nameOf(key), before)
    }
  }
  const otherItems = last.items.filter(
    ({ pk, sk }) => !replaced.has(nameOf({ pk: String(pk), sk: String(sk) })),
  )
  const tornItems = [...replaced.values()].filter((item) => item !== undefined)
  const deps = { ...memoryDeps({}, [...otherItems, ...tornItems]), provider: copyOf(last.provider) }
  // A restore takes longer than the minute in which a figure may differ.
  deps.clock.set(addMs(last.at, HOUR_MS))
  return deps
}

function nameOf({ pk, sk }: Key) {
  return `${pk} ${sk}`
}

export async function clientWithEndpoints(endpoints: number) {
  const { deps, client } = await aLoneClient()
  for (let at = 0; at < endpoints; at++) {
    await storedEndpoint(deps, { clientId: client.clientId, eventTypes: ['*', 'payment.reversed'] })
  }
  return { deps, client }
}

export async function tornOneByOne(...flow: Parameters<typeof recordTransactions>) {
  const transactions = await recordTransactions(...flow)
  const states = transactions.flatMap((transaction, at) =>
    tornStates([transaction]).map((state) => ({ ...state, title: `${at + 1}: ${state.title}` })),
  )
  return { transactions, states }
}

export async function tearFlow(flow: Flow) {
  const { deps, client } = await clientWithEndpoints(2)
  deps.clock.advance(60)
  const { transactions, states } = await tornOneByOne(deps, await flow(deps, client))
  const lastTransaction = transactions.at(-1)
  if (lastTransaction === undefined) throw new Error('the flow made no transaction')
  return {
    client,
    states,
    end: await endStateOf(
      worldOf([lastTransaction], [lastTransaction.written.map(() => true)]),
      client,
    ),
  }
}

async function endStateOf(deps: MemoryDeps, client: Client) {
  for (let time = 0; time < 2; time++) {
    await receiveEverything(deps)
    await expectBalanced(deps, client)
  }
  // The next day's settlement is made, and every settlement passes the payout gate: nothing is
  // stuck.
  await sweepADayLater(deps, client)
  for (const settlement of await settlementsOf(deps, client)) {
    if (settlement.status === 'recorded') await payOut(deps, settlement)
  }
  await expectBalanced(deps, client)
  const ledger = await readLedger(deps, client.clientId)
  const heldKeys = deps.stored
    .items('SUSPENSE#')
    .flatMap(({ kind, pk }) => (kind === 'money' ? [String(pk)] : []))
  const payments = deps.stored.items('PAYMENT#').filter(({ sk }) => sk === 'PAYMENT')
  const endedPayments = payments.filter(
    ({ status }) => status !== 'creating' && status !== 'pending',
  )
  const endStatuses = endedPayments.map(({ pk, status }) => `${String(pk)} ${String(status)}`)
  return {
    credited: creditedOf(ledger),
    paidOut: ledger.window.paidOutMinor,
    held: heldKeys,
    ends: endStatuses,
  }
}

export async function expectHealed(
  deps: MemoryDeps,
  { client, end }: Awaited<ReturnType<typeof tearFlow>>,
) {
  await expectBalanced(deps, client)
  expect(await endStateOf(deps, client)).toStrictEqual(end)
}
