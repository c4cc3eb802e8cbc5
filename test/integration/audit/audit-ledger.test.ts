import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-ledger.ts'
import { auditClient } from '../../../shared/audit/run-audits.ts'
import { shardOf } from '../../../shared/ledger/count-store.ts'
import { minor } from '../../../shared/money.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { msBetween } from '../../../shared/time.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aRefund } from '../../support/money-rows.ts'
import { aSucceededPayment, storeOpen, succeededPayment } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { aDayLater, BANK, payOut, sweptNow, withFloor } from '../../support/settlement-builders.ts'
import { aSettled, aSyncWorld, creditedPayment } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { auditedHistory } from './audited-history.ts'

/** In whose part of an index nothing is, as in one that has not heard of anything yet. */
const NOBODY = ['nobody', 'nothing']

describe('audit-ledger: what it answers', () => {
  it('says true at once when all is well', async () => {
    const { deps, client } = await auditedHistory()
    const began = deps.now()

    const result = await auditLedger(deps, client.clientId)

    expect(result).toStrictEqual({ balanced: true, differences: [] })
    expect(deps.now()).toBe(began)
  })

  it('counts a difference that is there again after ten seconds, and only that', async () => {
    const { deps, client } = await aSyncWorld()
    const item = await rawItem(deps, shardOf((await creditedPayment(deps, client)).payment))
    await putRaw(deps, { ...item, credited_minor: 95_901 })
    const began = deps.now()

    const result = await auditLedger(deps, client.clientId)

    const difference = { what: 'ledger.credited_minor', id: client.clientId, expected: 95_900, found: 95_901 }
    expect(result).toStrictEqual({ balanced: false, differences: [difference] })
    expect(msBetween(began, deps.now())).toBeGreaterThanOrEqual(10_000)
  })

  it('says true when what it saw is gone after ten seconds', async () => {
    const { deps, client } = await aSyncWorld()
    const item = await rawItem(deps, shardOf((await creditedPayment(deps, client)).payment))
    await putRaw(deps, { ...item, count_succeeded: 2 })
    const sleep = async () => void (await putRaw(deps, item))

    const result = await auditLedger({ ...deps, sleep }, client.clientId)

    expect(result).toStrictEqual({ balanced: true, differences: [] })
  })

  it('says true when only an index is behind', async () => {
    const world = await aSyncWorld()
    const { deps, client } = world
    await aSettled(world)
    let isBehind = true
    // The newest row of every list is missing until the second look.
    const lagging = interceptTable(deps, {
      asQuery: (query) => (isBehind && query.index === 'by-owner' ? { ...query, partition: NOBODY } : query),
    })
    const sleep = async () => {
      isBehind = false
    }

    const result = await auditLedger({ ...lagging, sleep }, client.clientId)

    expect(result).toStrictEqual({ balanced: true, differences: [] })
  })

  it('names a ledger whose figures are no figures, instead of failing', async () => {
    const { deps, client } = await aSyncWorld()
    const item = await rawItem(deps, windowKey(client.clientId))
    await putRaw(deps, { ...item, paid_out_minor: 'much' })

    const result = await auditLedger(deps, client.clientId)

    expect(result).toMatchObject({ balanced: false, differences: [{ what: 'ledger', id: client.clientId }] })
  })

  it('finds nothing in money that the provider settled days before its payment was shown', async () => {
    const { deps, client } = await aSyncWorld()
    const startedAt = deps.now()
    deps.clock.advance(2 * 86_400)
    const payment = succeededPayment(client, { paidAt: deps.now() })
    const [attempt] = payment.providerAttempts
    if (attempt === undefined) throw new Error('nobody asked the provider')
    const early = { providerAttempts: [{ ...attempt, startedAt }], providerSettledAt: startedAt }

    await storeOpen(deps, [{ ...payment, ...early }])

    expect(await auditLedger(deps, client.clientId)).toStrictEqual({ balanced: true, differences: [] })
  })

  it('answers a bounded number of differences, whatever is wrong', async () => {
    const { deps, client } = await aSyncWorld()
    const payments = Array.from({ length: 210 }, () => succeededPayment(client, { paidAt: deps.now() }))
    // Five things are wrong with each.
    const wrong = {
      markupMinor: minor(101),
      feeStatus: 'assumed',
      attempt: 2,
      creditedProviderPaymentId: undefined,
    } as const
    await storeOpen(
      deps,
      payments.map((payment) => ({ ...payment, ...wrong })),
    )

    const { balanced, differences } = await auditLedger(deps, client.clientId)

    expect(balanced).toBe(false)
    expect(differences).toHaveLength(1_000)
  })
})

it('a client that owes is told after a week, once a week, until new payments cover it', async () => {
  const deps = memoryDeps()
  const client = await withFloor(deps, 0, { bank: BANK })
  const payment = await aSucceededPayment(deps, client)
  aDayLater(deps)
  await payOut(deps, await sweptNow(deps, client))
  await movePayment(deps, payment, aRefund(deps, 100_000))
  const daysTold: number[] = []

  for (let day = 0; day < 30; day++) {
    if (day === 20) await aSucceededPayment(deps, client)
    deps.published.length = 0
    await auditClient(deps, client.clientId)
    if (deps.published.some(({ kind }) => kind === 'client.owes')) daysTold.push(day)
    aDayLater(deps)
  }

  expect(daysTold).toStrictEqual([7, 14])
  await expectBalanced(deps, client.clientId)
})
