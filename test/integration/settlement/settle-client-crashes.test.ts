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
import {
  markSettlementFailed,
  markSettlementPaid,
  recreditSettlement,
} from '../../../shared/settlement/close-settlement.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { listSettlements } from '../../../shared/settlement/settlement-store.ts'
import { triggerSettlement } from '../../../shared/settlement/trigger-settlement.ts'
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
  failedAndRecredited,
  settle,
  withFloor,
} from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const OPERATOR = 'sari@gateway.example'

type Scene = { readonly client: Client; readonly settlement?: Settlement }
type Scenario = {
  readonly prepare: (deps: TestDeps) => Promise<Scene>
  readonly run: (deps: TestDeps, scene: Scene) => Promise<unknown>
}

/** The client's books without what differs from run to run: ids. */
const books = async (deps: TestDeps, { clientId }: Client) => {
  const settlements = await listSettlements(deps, clientId, { page: 1, perPage: 100 })
  const trails = await Promise.all(settlements.map(({ settlementId }) => listAuditRecords(deps, settlementId)))
  return {
    settlements: settlements.map((settlement) => ({
      ...settlement,
      settlementId: undefined,
      clientId: undefined,
      replaces: settlements.findIndex(({ settlementId }) => settlementId === settlement.replaces),
    })),
    trails: trails.map((trail) => trail.map(({ action, operator }) => `${operator} ${action}`).toSorted()),
    balance: await getBalance(deps, clientId),
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

const expectSurvivesEveryDeath = async (
  { prepare, run }: Scenario,
  check: (deps: TestDeps, scene: Scene, died: string) => Promise<void> = async () => undefined,
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

const sweep: Scenario['run'] = (deps, { client }) => settle(deps, client)

const trigger: Scenario['run'] = (deps, { client }) =>
  triggerSettlement(deps, { clientId: client.clientId, operator: OPERATOR })

describe('settleClient, killed at every call', () => {
  it('by the sweep ends in one settlement', () => expectSurvivesEveryDeath({ prepare: withPayments, run: sweep }))

  it('by an operator ends in one settlement with one audit record', () =>
    expectSurvivesEveryDeath({ prepare: withPayments, run: trigger }))

  it('with a recredited settlement ends with it recorded again once, and the new one once', () =>
    expectSurvivesEveryDeath({
      prepare: async (deps) => {
        const { client } = await failedAndRecredited(deps)
        await aSucceededPayment(deps, client)
        aDayLater(deps)
        return { client }
      },
      run: trigger,
    }))

  it('while fees are made final ends with each final once, its finding there and its alert out or due', () => {
    const ids = new Map<TestDeps, string>()
    return expectSurvivesEveryDeath(
      {
        prepare: async (deps) => {
          const client = await withFloor(deps)
          const known = await aSucceededPayment(deps, client, { feeStatus: 'estimated' })
          deps.clock.set(addMs(deps.now(), 1))
          const unknown = await aSucceededPayment(deps, client, { feeStatus: 'estimated' })
          deps.provider.script('listTransactions', async ({ providerPaymentId }) => ({
            kind: 'found',
            value: {
              transactions:
                providerPaymentId === known.creditedProviderPaymentId
                  ? [aTransaction(known, { keptMinor: 4_440 })]
                  : [],
              hasMore: false,
            },
          }))
          ids.set(deps, unknown.paymentId)
          deps.clock.set(addMs(deps.now(), 7 * DAY_MS))
          return { client }
        },
        run: sweep,
      },
      async (deps, { client }, died) => {
        const suspenseId = `${ids.get(deps)}#transaction_missing`
        expect(await findSuspense(deps, suspenseId), died).toMatchObject({ status: 'open', clientId: client.clientId })
        const isDue = (await deps.table.get(suspenseKey(suspenseId)))?.['work'] === 'alert'
        expect(isDue || deps.published.some(({ subject }) => subject === suspenseId), died).toBe(true)
      },
    )
  })
})

describe('closing a settlement, killed at every call', () => {
  const settled = async (deps: TestDeps): Promise<Scene> => aSettledClient(deps)
  const input = (settlement: Settlement | undefined) => ({
    settlementId: settlement?.settlementId ?? '',
    operator: OPERATOR,
    notes: 'as told by the bank',
  })

  it('as paid closes it once with one audit record', () =>
    expectSurvivesEveryDeath({
      prepare: settled,
      run: (deps, { settlement }) => markSettlementPaid(deps, { ...input(settlement), confirmUnfunded: true }),
    }))

  it('as failed closes it once with one audit record', () =>
    expectSurvivesEveryDeath({
      prepare: settled,
      run: (deps, { settlement }) => markSettlementFailed(deps, input(settlement)),
    }))

  it('by a recredit puts its net back to available once', () =>
    expectSurvivesEveryDeath({
      prepare: async (deps) => {
        const scene = await aSettledClient(deps)
        await markSettlementFailed(deps, input(scene.settlement))
        return scene
      },
      run: (deps, { settlement }) => recreditSettlement(deps, input(settlement)),
    }))
})
