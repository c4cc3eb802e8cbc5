/**
 * Goal: wherever a process that settles dies, running it again ends in the settlements an undisturbed run makes.
 * Method: an undisturbed run counts its calls to table, provider and topic; then, each on a client of its own, the run
 * dies before and after each of those calls, is run again, and the books are compared with the undisturbed ones.
 */
import { describe, expect, it } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { GatewayError } from '../../../shared/errors.ts'
import { getBalance } from '../../../shared/ledger/balance.ts'
import { listAuditRecords } from '../../../shared/operator/audit-record.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { suspenseKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { dies, everyDeath, processThatDies } from '../../support/dying-process.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import {
  aDayLater,
  aSettledClient,
  aSucceededPayment,
  aTransaction,
  fail,
  failedAndRecredited,
  payOut,
  recredit,
  settle,
  settlementsOf,
  trigger,
  withFloor,
} from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

type Scene = { readonly client: Client }
type Scenario<Prepared extends Scene> = {
  readonly prepare: (deps: TestDeps) => Promise<Prepared>
  readonly run: (deps: TestDeps, scene: Prepared) => Promise<unknown>
}

/** The client's books without what differs from run to run: ids. */
const books = async (deps: TestDeps, client: Client) => {
  const settlements = await settlementsOf(deps, client)
  const trails = await Promise.all(settlements.map(({ settlementId }) => listAuditRecords(deps, settlementId)))
  return {
    settlements: settlements.map((settlement) => ({
      ...settlement,
      settlementId: undefined,
      clientId: undefined,
      replaces: settlements.findIndex(({ settlementId }) => settlementId === settlement.replaces),
    })),
    trails: trails.map((trail) => trail.map(({ action, operator }) => `${operator} ${action}`).toSorted()),
    balance: await getBalance(deps, client.clientId),
  }
}

/** A second try of something done already is refused by its state; that is an answer, not a failure. */
const again = async (run: () => Promise<unknown>) => {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'validation') throw error
  }
}

const expectSurvivesEveryDeath = async <Prepared extends Scene>(
  { prepare, run }: Scenario<Prepared>,
  check: (deps: TestDeps, scene: Prepared, died: string) => Promise<void> = async () => undefined,
) => {
  const calm = testDeps()
  const calmScene = await prepare(calm)
  const counted = processThatDies(calm)
  await run(counted.deps, calmScene)
  const expected = await books(calm, calmScene.client)
  await check(calm, calmScene, 'never')
  expect(counted.calls.length).toBeGreaterThan(1)

  for (const death of everyDeath(counted.calls.length)) {
    const died = `died ${death.when} call ${death.call} (${counted.calls[death.call - 1]})`
    const deps = testDeps()
    const scene = await prepare(deps)
    const process = processThatDies(deps, death)
    await dies(() => run(process.deps, scene))
    expect(process.calls.length, died).toBe(death.call)

    await again(() => run(deps, scene))

    expect(await books(deps, scene.client), died).toStrictEqual(expected)
    await check(deps, scene, died)
    await expectBalanced(deps, scene.client.clientId)
  }
}

const withPayments = async (deps: TestDeps): Promise<Scene> => {
  const client = await withFloor(deps)
  for (const notionalMinor of [50_000, 70_000]) await aSucceededPayment(deps, client, { notionalMinor })
  aDayLater(deps)
  return { client }
}

const sweep = (deps: TestDeps, { client }: Scene) => settle(deps, client)
/** In runs of one row each, as the queue hands a large window on. */
const sweepInSteps = async (deps: TestDeps, { client }: Scene) => {
  const small = { ...deps, stage: { ...deps.stage, historySteps: { rows: 1, pages: 1 } } }
  while ((await settle(small, client)).summedUntil !== undefined);
}
const triggered = (deps: TestDeps, { client }: Scene) => trigger(deps, client)

describe('settleClient, killed at every call', () => {
  it('by the sweep ends in one settlement', () => expectSurvivesEveryDeath({ prepare: withPayments, run: sweep }))

  it('in the steps of a large window ends in one settlement', () =>
    expectSurvivesEveryDeath({
      prepare: async (deps) => {
        const client = await withFloor(deps)
        for (const ms of [0, 0, 1, 2]) await aSucceededPayment(deps, client, { paidAt: addMs(deps.now(), ms) })
        deps.clock.set(addMs(deps.now(), 2))
        aDayLater(deps)
        return { client }
      },
      run: sweepInSteps,
    }))

  it('by an operator ends in one settlement with one audit record', () =>
    expectSurvivesEveryDeath({ prepare: withPayments, run: triggered }))

  it('with a recredited settlement ends with it recorded again once, and the new one once', () =>
    expectSurvivesEveryDeath({
      prepare: async (deps) => {
        const { client } = await failedAndRecredited(deps)
        await aSucceededPayment(deps, client)
        aDayLater(deps)
        return { client }
      },
      run: triggered,
    }))

  it('while fees are made final ends with each final once, its finding there and its alert out or due', () => {
    return expectSurvivesEveryDeath(
      {
        prepare: async (deps) => {
          const client = await withFloor(deps)
          const known = await aSucceededPayment(deps, client, { feeStatus: 'estimated' })
          deps.clock.set(addMs(deps.now(), 1))
          const unknown = await aSucceededPayment(deps, client, { feeStatus: 'estimated' })
          deps.provider.transactions.push(aTransaction(known, { keptMinor: 4_440 }))
          deps.clock.set(addMs(deps.now(), 7 * DAY_MS))
          return { client, unknown }
        },
        run: sweep,
      },
      async (deps, { client, unknown }, died) => {
        const suspenseId = `${unknown.paymentId}#transaction_missing`
        expect(await findSuspense(deps, suspenseId), died).toMatchObject({ status: 'open', clientId: client.clientId })
        const isDue = (await deps.table.get(suspenseKey(suspenseId)))?.['work'] === 'alert'
        expect(isDue || deps.published.some(({ subject }) => subject === suspenseId), died).toBe(true)
      },
    )
  })
})

type Settled = { readonly client: Client; readonly settlement: Settlement }

describe('closing a settlement, killed at every call', () => {
  const prepare = (deps: TestDeps): Promise<Settled> => aSettledClient(deps)
  const prepareFailed = async (deps: TestDeps) => {
    const scene = await aSettledClient(deps)
    await fail(deps, scene.settlement)
    return scene
  }

  it.each([
    ['as paid closes it once with one audit record', prepare, payOut],
    ['as failed closes it once with one audit record', prepare, fail],
    ['by a recredit puts its net back to available once', prepareFailed, recredit],
  ] as const)('%s', (_, from, act) =>
    expectSurvivesEveryDeath({ prepare: from, run: (deps, { settlement }: Settled) => act(deps, settlement) }),
  )
})
