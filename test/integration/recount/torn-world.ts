import { expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-ledger.ts'
import type { Client } from '../../../shared/client/client.ts'
import { creditedOf, readLedger } from '../../../shared/ledger/ledger-store.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { type MemoryDeps, memoryDeps } from '../../support/memory-deps.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater, payOut, settlementsOf, sweep, withFloor } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { hearEverything } from './after-recount.ts'
import type { Expected, Flow } from './torn-flows.ts'
import { recordTransactions, type TornState, tornStates, wholeState } from './torn-states.ts'

/** A client with so many endpoints, to which both kinds of event go. */
export const toldClient = async (endpoints: number) => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  const { clientId } = client
  for (let at = 0; at < endpoints; at++) {
    await storedEndpoint(deps, { clientId, eventTypes: ['*', 'payment.reversed'] })
  }
  return { deps, client }
}

export type Torn = {
  readonly client: Client
  readonly expected: readonly Expected[]
  readonly states: readonly TornState[]
  /** What the whole transaction comes to. */
  readonly end: End
}

/** What a client was credited and paid, and the money that was held. */
type End = { readonly credited: number; readonly paidOut: number; readonly held: readonly string[] }

/** Every torn state of every transaction of a flow. */
export const tornOf = async (flow: Flow): Promise<Torn> => {
  const { deps, client } = await toldClient(2)
  deps.clock.advance(60)
  const { act, expected } = await flow(deps, client)
  const recorded = await recordTransactions(deps, act)
  const states = recorded.flatMap((one, at) =>
    tornStates(one).map((state) => ({ ...state, title: `${at + 1}: ${state.title}` })),
  )
  const whole = recorded.at(-1)
  if (whole === undefined) throw new Error('the flow made no transaction')
  return { client, expected, states, end: await rest(wholeState(whole), client) }
}

/** What the audit shows is recounted. */
export const recount = async (deps: TestDeps, { clientId }: Pick<Client, 'clientId'>): Promise<void> => {
  const { balanced, differences } = await auditLedger(deps, clientId)
  if (balanced === true) return
  await recountLedger(deps, { clientId, expected: differences, operator: 'ana' })
}

const statusesOf = async (deps: TestDeps, expected: readonly Expected[]) =>
  Promise.all(
    expected.map(async ({ paymentId }) => ({ paymentId, status: (await findStoredPayment(deps, paymentId))?.status })),
  )

/** The next day's settlement is made, and every settlement passes the payout gate: nothing is stuck. */
const payEverythingOut = async (deps: TestDeps, client: Client): Promise<void> => {
  aDayLater(deps)
  await sweep(deps, client)
  for (const settlement of await settlementsOf(deps, client)) {
    if (settlement.status === 'recorded') await payOut(deps, settlement)
  }
  await expectBalanced(deps, client.clientId)
}

const endOf = async (deps: MemoryDeps, { clientId }: Client): Promise<End> => {
  const ledger = await readLedger(deps, clientId)
  const held = deps.stored.items('SUSPENSE#').filter(({ kind }) => kind === 'money')
  return {
    credited: creditedOf(ledger),
    paidOut: ledger.window.paidOutMinor,
    held: held.map(({ pk }) => String(pk)),
  }
}

/** The provider calls again about everything, twice, and everything is paid out. */
const rest = async (deps: MemoryDeps, client: Client): Promise<End> => {
  for (let time = 0; time < 2; time++) {
    await hearEverything(deps)
    await expectBalanced(deps, client.clientId)
  }
  await payEverythingOut(deps, client)
  return endOf(deps, client)
}

/** Nothing is torn any more: everything ends as it does without a restore. */
export const expectHealed = async (deps: MemoryDeps, { client, expected, end }: Torn): Promise<void> => {
  await expectBalanced(deps, client.clientId)
  expect(await rest(deps, client)).toStrictEqual(end)
  expect(await statusesOf(deps, expected)).toStrictEqual(expected)
}
