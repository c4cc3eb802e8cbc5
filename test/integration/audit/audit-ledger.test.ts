import { describe, expect } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { issueApiKey, revokeApiKey } from '../../../shared/client/api-key-store.ts'
import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { paymentKey, windowKey } from '../../../shared/table/keys.ts'
import { DAY_MS, dayNumber, msBetween } from '../../../shared/time.ts'
import { auditAnswer, mayBePaid } from '../../../shared/verdict/difference.ts'
import { readVerdict } from '../../../shared/verdict/verdict-store.ts'
import { bookRefund } from '../../support/money-rows.ts'
import {
  aSucceededPayment,
  post,
  storeOpen,
  succeededPayment,
} from '../../support/paid-builders.ts'
import { succeededKey } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aDayLater,
  aLoneClient,
  fail,
  inSteps,
  payOut,
  recredit,
  runAudit,
  standingOf,
  sweptADayLater,
} from '../../support/settlement-builders.ts'
import { aSyncWorld, creditedPayment, type SyncWorld } from '../../support/synced-payment.ts'
import { alter, alterBody, alterSettlement, erase } from '../../support/tampering.ts'
import { interceptTable, withoutTopic } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { auditedHistory } from './audited-history.ts'

const it = testWith(() => aSyncWorld(), 'deps', 'client')

/** Just after a settlement, a shard lacks one rupiah. */
async function aWrongShard({ deps, client }: SyncWorld) {
  const { payment } = await creditedPayment(deps, client)
  await post(deps, payment)
  await sweptADayLater(deps, client)
  await alter(deps, shardOf(payment), { credited_minor: 95_899 })
}

describe('the answer of audit-ledger', () => {
  it('has a difference that both looks find: the second comes ten seconds later, and waits for the longest lag of the index', async ({
    world,
  }) => {
    const { deps, client } = world
    await aWrongShard(world)
    const began = deps.now()

    const result = await auditLedger(deps, client.clientId)

    const difference = {
      what: 'ledger.credited_minor',
      id: client.clientId,
      expected: 95_900,
      found: 95_899,
    }
    expect(result).toStrictEqual({ balanced: false, differences: [difference] })
    expect(deps.published).toMatchObject([{ kind: 'audit.imbalance', subject: client.clientId }])
    expect(msBetween(began, deps.now())).toBe(110_000)
  })

  it('is answered although the alert fails; the next daily audit alerts', async ({ world }) => {
    const { deps, client } = world
    await aWrongShard(world)

    expect(await auditLedger(withoutTopic(deps), client.clientId)).toMatchObject({
      balanced: false,
    })
    expect(deps.lines.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['audit.imbalance', 'alert.failed']),
    )
    await auditClient(deps, client.clientId)
    expect(deps.published).toMatchObject([{ kind: 'audit.imbalance', subject: client.clientId }])
  })

  it('has at most 1,000 differences, and says so', async ({ deps, client }) => {
    // Each payment has nine differences.
    const amounts = { markupMinor: minor(101), netMinor: minor(3), providerFeeMinor: minor(1) }
    const others = { attempt: 2, capture: undefined, provider: 'x', moneyVersion: 7, isVoid: true }
    const wrongFields = { ...amounts, ...others, feeStatus: 'assumed' }
    const aWrongPayment = () =>
      ({ ...succeededPayment(client, { paidAt: deps.now() }), ...wrongFields }) as Payment
    await storeOpen(deps, Array.from({ length: 115 }, aWrongPayment))

    const { balanced, differences, more = '' } = await auditLedger(deps, client.clientId)

    expect([balanced, differences.length]).toStrictEqual([false, 1_000])
    expect(more).toContain('there may be more')
    expect(auditAnswer(differences, undefined)).toHaveProperty('more')
  })
})

it('a long audit takes several runs, each of which continues after the previous run', async () => {
  const { deps, client } = await auditedHistory()
  const small = inSteps(deps, 100, 3, 1_000)
  const { length: sent } = deps.sent
  const began = deps.now()

  const runs = await runAudit(small, { client_id: client.clientId })

  const body = { client_id: client.clientId, audit_id: expect.any(String) }
  const nextMessage = { queue: 'audits', message: { body } }
  expect(runs).toBeGreaterThan(2)
  expect(deps.sent.slice(sent)).toMatchObject(Array.from({ length: runs - 1 }, () => nextMessage))
  expect(await readVerdict(deps, client.clientId)).toMatchObject({
    figuresAt: began,
    historyDay: dayNumber(deps.now()),
    standing: [],
  })
})

it('a client that is credited between any two reads has an answer', async ({ deps, client }) => {
  const busy = interceptTable(deps, {
    before: async (call) => {
      if (call.name === 'query') await creditedPayment(deps, client)
    },
  })

  await post(deps, (await creditedPayment(deps, client)).payment)
  const { settlementId } = await sweptADayLater(deps, client)

  const intact = await auditLedger(busy, client.clientId)
  await alter(deps, windowKey(client.clientId), { paid_out_minor: 5 })
  await alterSettlement(deps, { settlementId }, { gross_minor: 100_001 })
  const { differences } = await auditLedger(busy, client.clientId)

  expect(intact.differences.filter((one) => !mayBePaid(one))).toStrictEqual([])
  expect(differences).toEqual(
    expect.arrayContaining([
      { what: 'window.paid_out_minor', id: client.clientId, expected: 0, found: 5 },
      { what: 'settlement.gross_minor', id: settlementId, expected: 100_000, found: 100_001 },
    ]),
  )
})

it('a lost window does not hide the differences of payments', async () => {
  const { deps, client } = await aLoneClient()
  const { clientId } = client
  const openPayment = succeededPayment(client, { paidAt: deps.now() })
  await storeOpen(deps, [openPayment])
  await alter(deps, paymentKey(openPayment.paymentId), { external_reference: 'tampered' })
  await erase(deps, windowKey(clientId))

  await auditLedger(deps, clientId)

  const standing = await standingOf(deps, { clientId })
  expect(standing.map(({ what }) => what)).toStrictEqual(['window', 'event.body', 'pointer'])
})

it('an unknown field in an event is a difference that does not show its value', async ({
  deps,
  client,
}) => {
  const { payment } = await creditedPayment(deps, client)
  await alterBody(deps, succeededKey(payment), '"data":{', '"data":{"phone":"+62811000000",')

  await auditLedger(deps, client.clientId)

  const standing = await standingOf(deps, client)
  expect(standing).toMatchObject([{ what: 'event.body', expected: 'as derived' }])
})

it('a client’s debt raises an alert after a week, then weekly, until new payments cover it', async () => {
  const { deps, client } = await aLoneClient()
  const { clientId } = client
  const payment = await aSucceededPayment(deps, client)
  await payOut(deps, await sweptADayLater(deps, client))
  // The net of a failed settlement counts too.
  await aSucceededPayment(deps, client, { notionalMinor: 50_000 })
  await recredit(deps, await fail(deps, await sweptADayLater(deps, client)))
  await bookRefund(deps, payment, 100_000)
  const alerts: string[] = []

  for (let day = 0; day < 22; day++) {
    if (day === 20) await aSucceededPayment(deps, client)
    await auditClient(withoutTopic(deps), clientId)
    await auditClient(deps, clientId)
    for (const { kind, message } of deps.published.splice(0))
      if (kind === 'client.owes') alerts.push(`${day}: ${message}`)
    aDayLater(deps)
  }

  const message = `: Client ${clientId} has owed 49950 IDR since `
  expect(alerts).toStrictEqual([7, 14].map((day) => expect.stringMatching(`^${day}${message}`)))
  await expectBalanced(deps, { clientId })
})

it('a long key is told a month, a week and a day before its end, unless it is revoked', async () => {
  const { deps, client } = await aLoneClient()
  const own = { clientId: client.clientId, operator: 'sari@gateway.example' }
  const keyOf = async (days: number) =>
    (await issueApiKey(deps, { ...own, expiresInSeconds: (days * DAY_MS) / 1_000 })).key
  const { prefix } = await keyOf(60)
  deps.clock.advance(1)
  for (let made = 0; made < 100; made++) await keyOf(59)
  await revokeApiKey(deps, { ...own, keyId: (await keyOf(61)).keyId })
  const told: unknown[] = []
  for (let daysLeft = 60; daysLeft >= 0; daysLeft--) {
    await auditClient(withoutTopic(deps), client.clientId).catch(() => undefined)
    expect((await readVerdict(deps, client.clientId)).historyDay).toBe(dayNumber(deps.now()))
    await auditClient(deps, client.clientId)
    const ends = deps.published.splice(0).filter(({ kind }) => kind === 'client.key_ends')
    told.push(...ends.map(({ message }) => [daysLeft, message]))
    aDayLater(deps)
  }
  const message = expect.stringContaining(`The API key ${prefix}… of client`)
  expect(told).toStrictEqual([30, 7, 1].map((daysLeft) => [daysLeft, message]))
})
