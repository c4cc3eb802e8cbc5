/**
 * Goal: no figure of money that goes back, or comes again, is tampered with unseen. Method: as in audit-tampering, on a
 * client of which everything went back that can.
 */
import { beforeAll, expect, it } from 'vitest'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import { minor } from '../../../shared/money.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import { reversalsPk, settlementKey } from '../../../shared/table/keys.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { dispute, won } from '../../support/dispute-builders.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aDayLater, aSucceededPayment, sweptNow, withFloor } from '../../support/settlement-builders.ts'
import { putRaw, rawItem, tamperingsOf } from '../../support/tampering.ts'
import { unseenBy } from './unseen-by.ts'

/** Deducted and undone, deducted for good, in part, put back behind its settlement, noted on a settlement. */
const everyReversal = async () => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  const pay = async () => {
    deps.clock.set(addMs(deps.now(), MINUTE_MS))
    return aSucceededPayment(deps, client)
  }
  const [undone, gone, inPart, again] = [await pay(), await pay(), await pay(), await pay()]
  for (const payment of [undone, gone, again]) await dispute(deps, payment)
  await won(deps, undone)
  await reversePayment(deps, inPart, { transactionId: 'part', kind: 'refund', amountMinor: minor(20_000) })
  aDayLater(deps)
  const settlement = await sweptNow(deps, client)
  await won(deps, again)
  await dispute(deps, undone, 2)
  return { deps, client, settlement }
}

let history: Awaited<ReturnType<typeof everyReversal>>
beforeAll(async () => {
  history = await everyReversal()
})

const unseen = (item: Parameters<typeof tamperingsOf>[0], ids: readonly string[], loose: readonly string[]) =>
  unseenBy(history.deps, history.client.clientId, { tamperings: tamperingsOf(item, { loose, imprecise: [] }), ids })

it('audit-ledger sees every tampered figure, number and mark of a reversal in the ledger', async () => {
  const { deps, client } = history
  const { items } = await deps.table.query({ partition: [reversalsPk(client.clientId)], limit: 10 })
  const stored = items.map(toItem)
  const ids = ['window', client.clientId, ...stored.map((item) => String(item['payment_id']))]

  const missed: string[] = []
  for (const item of stored) {
    // Of a part, and of what came again before it was swept, nothing else says when.
    const loose = item['part'] || item['undoes'] || item['undone_by'] ? ['at'] : []
    missed.push(...(await unseen(item, ids, loose)).map((what) => `${String(item['seq'])}: ${what}`))
  }

  expect(stored).toHaveLength(6)
  expect(missed).toStrictEqual([])
})

it('audit-ledger sees every tampered figure of what went back of a settlement', async () => {
  const { deps, settlement } = history
  const item = await rawItem(deps, settlementKey(settlement.settlementId))
  expect(item).toMatchObject({ reversed_count: 2, reversed_net_minor: 95_900 })

  const missed = await unseen(item, [settlement.settlementId], ['slot'])

  // Who pays out must confirm one more than there is: no harm, and nothing else counts parts.
  expect(missed.filter((what) => !what.startsWith('reversed_count = 3:'))).toStrictEqual([])
})

it('the daily audit tells of a reversal that cannot be read', async () => {
  const { deps, client } = history
  const { items } = await deps.table.query({ partition: [reversalsPk(client.clientId)], limit: 1 })
  const [stored] = items.map(toItem)
  const { net_minor: _, ...unreadable } = stored ?? {}

  await putRaw(deps, unreadable)
  await auditClient(deps, client.clientId, { again: true })
  await putRaw(deps, stored ?? {})

  expect(deps.published.at(-1)).toMatchObject({ kind: 'audit.imbalance', subject: client.clientId })
})
