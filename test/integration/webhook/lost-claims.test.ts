/**
 * Goal: of two that find the same work, the one that comes second does nothing. Method: the other one does it all
 * between the read and the claim of the one under test; nothing is left to how calls happen to interleave.
 */

import { describe, expect } from 'vitest'
import { revokeApiKey } from '../../../shared/client/api-key-store.ts'
import { listAuditRecords } from '../../../shared/operator/audit-record.ts'
import { listSettlements } from '../../../shared/settlement/settlement-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import { checkOverdueEvent } from '../../../shared/webhook/delivery/check-overdue-event.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { issueKey } from '../../support/client-builders.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { failedAndRecredited, settle } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { eventFor, messageFor } from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('an overdue delivery that another run has claimed', () => {
  it('gets one message', async ({ deps, delivery }) => {
    deps.clock.advance(120)
    const late = beforeFirst(deps, 'update', () => checkOverdueDelivery(deps, delivery.deliveryId))

    expect(await checkOverdueDelivery(late, delivery.deliveryId)).toBe(false)

    expect(deps.sent).toHaveLength(1)
  })
})

describe('an overdue event that another run has claimed', () => {
  it('is fanned out once', async () => {
    const { deps, event } = await eventFor({})
    deps.clock.advance(120)
    const key = eventKey(event.paymentId, event.type)
    const late = beforeFirst(deps, 'update', () => checkOverdueEvent(deps, key))

    expect(await checkOverdueEvent(late, key)).toBe(false)

    expect(deps.sent).toHaveLength(1)
  })
})

describe('an attempt that another worker has claimed', () => {
  it('is posted once, and recorded by the one that posted it', async ({ deps, delivery }) => {
    const late = beforeFirst(deps, 'update', () => deliverWebhook(deps, messageFor(delivery)))

    await deliverWebhook(late, messageFor(delivery))

    expect(deps.webhooks).toHaveLength(1)
    expect(deps.lines.map(({ code }) => code)).toStrictEqual(['delivery.succeeded', 'delivery.dropped'])
  })
})

describe('a recredited settlement that another sweep has recorded again', () => {
  it('is recorded again once', async ({ deps }) => {
    const { client, failed } = await failedAndRecredited(deps)
    const sweep = (by: TestDeps) => settle(by, client)
    const late = beforeFirst(deps, 'transact', () => sweep(deps))

    expect((await sweep(late)).settlements).toStrictEqual([])

    const all = await listSettlements(deps, client.clientId, { page: 1, perPage: 100 })
    expect(all.filter(({ replaces }) => replaces === failed.settlementId)).toHaveLength(1)
    await expectBalanced(deps, client.clientId)
  })
})

describe('a key that another operator has revoked', () => {
  it('keeps the time of the first revocation, which alone is recorded', async ({ deps }) => {
    const { clientId } = await aStoredClient(deps)
    const { key } = await issueKey(deps, clientId)
    const first = deps.now()
    const late = beforeFirst(deps, 'transact', () =>
      revokeApiKey(deps, { clientId, keyId: key.keyId, operator: 'ayu' }),
    )

    const answer = await revokeApiKey({ ...late, now: () => addMs(first, 5_000) }, { ...key, operator: 'budi' })

    expect(answer.revokedAt).toBe(first)
    const revocations = (await listAuditRecords(deps, clientId)).filter(({ action }) => action === 'revoke-api-key')
    expect(revocations.map(({ operator }) => operator)).toStrictEqual(['ayu'])
  })
})

describe('a sync that another run has overtaken', () => {
  it('stops reading and says that it is not complete', async () => {
    const deps = memoryDeps()
    const late = beforeFirst(deps, 'transact', () => syncProviderTransactions(deps))

    const summary = await syncProviderTransactions(late)

    // Seven days in slices and the reversals, by the run that planned; nothing by this one.
    expect(summary).toMatchObject({ complete: false, until: null })
    expect(deps.provider.countOf('listTransactions')).toBe(29)
  })
})
