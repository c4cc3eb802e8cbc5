/**
 * Goal: what an audit has sealed is not read again, and nothing is taken for right that is not. Method: the daily
 * worker on small histories, in runs of one page of two rows, killed at every call, overtaken and repeated; then
 * somebody writes behind the gateway's back.
 */
import { describe, expect, it } from 'vitest'
import { handler as worker } from '../../../functions/queue/audit-client.ts'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import { auditLedger } from '../../../shared/audit/audit-ledger.ts'
import { startAudits } from '../../../shared/audit/start-audits.ts'
import type { Client } from '../../../shared/client/client.ts'
import { slotOf } from '../../../shared/ids.ts'
import { makeFeeFinal } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { paymentKey, sealedBooksKey, sealsPk, settlementKey, shardKey } from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { dies, everyDeath, processThatDies } from '../../support/dying-process.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst, interceptTable, recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { aSucceededPayment, inSteps, settle, settlementsOf, withFloor } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { auditedHistory } from './audited-history.ts'

const HOUR_MS = 3_600_000
const passes = (deps: TestDeps, ms: number) => deps.clock.advance(ms / 1_000)

/** The worker, and every message it sends itself. */
const auditToday = async (deps: TestDeps, { clientId }: Client): Promise<number> => {
  const small = inSteps(deps, 2, 1)
  let runs = 0
  let again = false
  deps.sent.splice(0)
  do {
    again = deps.sent.splice(0).some(({ message }) => Object(message.body).again === true)
    await auditClient(small, clientId, { again })
    runs++
  } while (deps.sent.length > 0 && runs < 100)
  return runs
}

const sealsOf = async ({ table }: TestDeps, { clientId }: Client) =>
  (await table.query({ partition: [sealsPk(clientId)], limit: 100 })).items

/** Days of two payments each, all settled, and one that nobody has paid. */
const history = async (days = 3) => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  const payments: Payment[] = []
  for (let day = 0; day < days; day++) {
    for (let number = 0; number < 2; number++) {
      payments.push(await aSucceededPayment(deps, client))
      passes(deps, HOUR_MS)
    }
    passes(deps, DAY_MS)
    await settle(deps, client)
  }
  await aPendingPayment(deps, client, { expiresInSeconds: 30 * 86_400 })
  passes(deps, 2 * HOUR_MS)
  return { deps, client, payments }
}

const verdictOf = async (deps: TestDeps, { clientId }: Client, full = false) => {
  const { balanced, differences } = await auditLedger({ ...deps, sleep: async () => {} }, clientId, { full })
  return [balanced, differences.map(({ what }) => what)]
}

describe('the daily audit', () => {
  it('seals what is right and final over several runs, and finds the books right', async () => {
    const { deps, client } = await auditedHistory(memoryDeps())
    passes(deps, 2 * HOUR_MS)

    const runs = await auditToday(deps, client)

    expect(runs).toBeGreaterThan(3)
    const [books, ...windows] = await sealsOf(deps, client)
    expect(windows).toHaveLength(3)
    expect(books).toMatchObject({ balancedAs: expect.any(String), place: expect.any(Object) })
    expect(deps.published.filter(({ kind }) => kind === 'audit.imbalance')).toStrictEqual([])
    expect(await auditLedger(deps, client.clientId)).toStrictEqual({ balanced: true, differences: [] })
    await expectBalanced(deps, client.clientId)
  })

  it('asks again for what can still change, and for nothing that it has sealed', async () => {
    const { deps, client, payments } = await history()
    await auditToday(deps, client)
    const { deps: recorded, calls } = recordTable(deps)

    expect(await verdictOf(recorded, client)).toStrictEqual([true, []])

    const keys = calls.flatMap((call) => ('keys' in call ? call.keys.map(({ pk }) => pk) : []))
    expect(payments.filter(({ paymentId }) => keys.includes(paymentKey(paymentId).pk))).toStrictEqual([])
    expect(keys.filter((pk) => pk.startsWith('PAYMENT#'))).toHaveLength(1)
    expect(calls.filter((call) => 'query' in call && call.query.index === 'by-owner-paid')).toStrictEqual([])
  })

  it('looks at a client again when it has moved, and leaves one alone that has not', async () => {
    const { deps, client } = await history(1)
    await auditToday(deps, client)
    const quiet = recordTable(deps)
    await auditClient(quiet.deps, client.clientId)
    const open = await aSucceededPayment(deps, client, { feeStatus: 'estimated' })
    passes(deps, 2 * HOUR_MS)
    await auditToday(deps, client)
    await makeFeeFinal(deps, open, { status: 'actual', feeMinor: open.providerFeeMinor })
    passes(deps, DAY_MS)
    await settle(deps, client)
    await auditToday(deps, client)

    expect(quiet.calls.map(({ name }) => name)).toStrictEqual(['get', 'query', 'get'])
    const books = (await sealsOf(deps, client))[0]
    expect(books?.['openIds']).toHaveLength(1)
    await expectBalanced(deps, client.clientId)
  })

  it('puts every client on the queue, whose worker takes it', async () => {
    const { deps, client } = await history(1)

    expect(await startAudits(deps)).toStrictEqual({ clients: 1 })
    const event = { Records: [{ messageId: 'm', body: JSON.stringify(deps.sent[0]?.message.body) }] }

    const [queue, message] = ['audits', { group: client.clientId, delaySeconds: 0 }]
    expect(deps.sent).toMatchObject([
      { queue, message },
      { queue, message: { ...message, body: { books: true } } },
    ])
    const handed = await worker.withDeps(deps)(event as never, { functionName: 'audit-client' } as never)
    expect(handed).toStrictEqual({ batchItemFailures: [] })
  })

  it('ends in the same seals wherever it dies', async () => {
    const calm = await history(2)
    await auditToday(calm.deps, calm.client)
    const expected = await sealsOf(calm.deps, calm.client)
    const small = (deps: TestDeps) => inSteps(deps, 2, 1)

    const shape = (items: readonly Readonly<Record<string, unknown>>[]) =>
      items.map((item) => [Object.keys(item).toSorted(), item['paymentCount'], item['shards'] !== undefined])
    for (const death of everyDeath(24)) {
      const { deps, client } = await history(2)
      const process = processThatDies(deps, death)
      await dies(async () => {
        for (let run = 0; run < 8; run++) await auditClient(small(process.deps), client.clientId)
      })
      await auditToday(deps, client)
      expect(shape(await sealsOf(deps, client)), `died ${death.when} ${death.call}`).toStrictEqual(shape(expected))
      expect(await verdictOf(deps, client)).toStrictEqual([true, []])
    }
  }, 60_000)

  it('leaves the rest to a run that has overtaken it', async () => {
    const { deps, client } = await history()
    const overtaken = beforeFirst(inSteps(deps, 2, 100), 'put', () => auditToday(deps, client))
    const later = interceptTable(inSteps(deps, 2, 100), {
      before: async ({ name, ...call }) => {
        if (name === 'put' && 'steps' in call && call.steps[0]?.key.sk === 'BOOKS') await auditToday(deps, client)
      },
    })

    await auditClient(overtaken, client.clientId)
    await aSucceededPayment(deps, client)
    await auditClient(later, client.clientId)

    expect(await verdictOf(deps, client)).toStrictEqual([true, []])
    await expectBalanced(deps, client.clientId)
  })
})

describe('somebody who writes behind the gateway’s back', () => {
  it('is found by the day’s audit, which tells the operators once a day and seals nothing of it', async () => {
    const { deps, client, payments } = await history()
    const [wrong] = payments
    const key = paymentKey((wrong as Payment).paymentId)
    await putRaw(deps, { ...(await rawItem(deps, key)), net_minor: 1 })

    await auditToday(deps, client)
    await auditToday(deps, client)

    const alert = {
      kind: 'audit.imbalance',
      subject: client.clientId,
      message: expect.stringContaining('do not balance'),
    }
    expect(deps.published).toMatchObject([alert, alert])
    expect((await sealsOf(deps, client)).map(({ sk }) => sk)).toStrictEqual(['BOOKS'])
    expect(await verdictOf(deps, client)).toMatchObject([false, expect.arrayContaining(['payment.net_minor'])])
  })

  it('is told of nothing that an index was only late to show', async () => {
    const { deps, client } = await history(1)
    const pending = await aPendingPayment(deps, client)
    const key = paymentKey(pending.paymentId)
    const item = await rawItem(deps, key)
    await deps.table.write({ kind: 'delete', key, condition: { test: 'present', field: 'pk' } })

    await auditClient(deps, client.clientId)
    await putRaw(deps, item)
    await auditClient(deps, client.clientId, { again: true })

    expect(deps.sent.at(-1)).toMatchObject({ message: { body: { again: true }, delaySeconds: 300 } })
    expect(deps.published).toStrictEqual([])
  })

  it.each(['settlement', 'shard'] as const)('and changes a sealed %s is found by every audit', async (what) => {
    const { deps, client, payments } = await history()
    await auditToday(deps, client)
    const [settlement] = await settlementsOf(deps, client)
    const shard = slotOf((payments[0] as Payment).paymentId, LEDGER_SHARDS)
    const keys = {
      settlement: settlementKey(settlement?.settlementId as never),
      shard: shardKey(client.clientId, shard),
    }
    const item = await rawItem(deps, keys[what])
    const fields = { settlement: 'gross_minor', shard: 'credited_minor' }
    await putRaw(deps, { ...item, [fields[what]]: Number(item[fields[what]]) + 1 })

    expect((await verdictOf(deps, client))[0]).toBe(false)
  })

  it('and changes a sealed payment with all its sums is found in full, by the digest of its window', async () => {
    const { deps, client, payments } = await history()
    await auditToday(deps, client)
    const [a, b] = payments as [Payment, Payment]
    // One rupiah from one payment's fee to the other's: every sum stays.
    for (const [{ paymentId }, by] of [[a, 1] as const, [b, -1] as const]) {
      const item = await rawItem(deps, paymentKey(paymentId))
      const [fee, net] = [Number(item['provider_fee_minor']) + by, Number(item['net_minor']) - by]
      const finalFee = { ...Object(item['final_fee']), feeMinor: fee }
      await putRaw(deps, { ...item, provider_fee_minor: fee, net_minor: net, final_fee: finalFee })
    }

    expect(await verdictOf(deps, client)).toStrictEqual([true, []])
    expect(await verdictOf(deps, client, true)).toMatchObject([false, expect.arrayContaining(['window.digest'])])
  })

  it('finds nothing wrong with an event that has expired, and misses one that has not', async () => {
    const { deps, client, payments } = await history(1)
    const [{ paymentId }] = payments as [Payment]
    const event = { pk: paymentKey(paymentId).pk, sk: 'EVENT#payment.succeeded' }
    await deps.table.write({ kind: 'delete', key: event, condition: { test: 'present', field: 'pk' } })

    expect(await verdictOf(deps, client)).toStrictEqual([false, ['event']])
    passes(deps, 90 * DAY_MS)
    expect(await verdictOf(deps, client)).toStrictEqual([true, []])
    expect(await deps.table.get(sealedBooksKey(client.clientId))).toBeUndefined()
  })
})
