/**
 * Goal: no figure of money that goes back, or comes again, of an audit record or of a sealed window is tampered with
 * unseen. Method: as in audit-tampering, every attribute of each item, one at a time, behind the gateway's back, on a
 * client of which everything went back that can: by the audit of what is not sealed, and by the full one of what is. Only
 * attributes listed here are passed over.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { auditClient } from '../../../shared/audit/audit-client.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import { minor } from '../../../shared/money.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import {
  auditHeadKey,
  auditRecordPk,
  reversalsPk,
  sealsPk,
  settlementKey,
  WINDOW_SEAL_PREFIX,
} from '../../../shared/table/keys.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { dispute, won } from '../../support/dispute-builders.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aDayLater, aSucceededPayment, BY_OPERATOR, sweptNow, withFloor } from '../../support/settlement-builders.ts'
import { putRaw, rawItem, tamperingsOf } from '../../support/tampering.ts'
import { unseenBy } from './unseen-by.ts'

type Raw = Readonly<Record<string, unknown>>

/** Deducted and undone, deducted for good, in part, put back behind its settlement, noted on a settlement. */
const everyReversal = async ({ isSealed }: { readonly isSealed: boolean }) => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  const { clientId } = client
  const pay = async () => {
    deps.clock.set(addMs(deps.now(), MINUTE_MS))
    return aSucceededPayment(deps, client)
  }
  const [undone, gone, inPart, again] = [await pay(), await pay(), await pay(), await pay()]
  for (const payment of [undone, gone, again]) await dispute(deps, payment)
  await won(deps, undone)
  await reversePayment(deps, inPart, { transactionId: 'part', kind: 'refund', amountMinor: minor(20_000) })
  await changeClient(deps, { clientId, operator: BY_OPERATOR.operator, changes: { name: 'Toko Lain' } })
  aDayLater(deps)
  const settlement = await sweptNow(deps, client)
  await won(deps, again)
  await dispute(deps, undone, 2)
  if (isSealed) {
    deps.clock.advance(7_200)
    await auditClient(deps, clientId)
  }
  const rows = async (pk: string): Promise<readonly Raw[]> =>
    (await deps.table.query({ partition: [pk], limit: 50 })).items.map(toItem)
  const unseen = (item: Raw, ids: readonly string[], loose: readonly string[] = []) => {
    const tamperings = tamperingsOf(item, { loose, imprecise: [] })
    // What is missing of a sealed window cannot be read by the full audit: it ends with an error.
    const readable = isSealed ? tamperings.filter(({ name }) => !name.endsWith(' removed')) : tamperings
    return unseenBy(deps, clientId, { tamperings: readable, ids, full: isSealed })
  }
  return { deps, clientId, settlement, rows, unseen }
}

let history: Awaited<ReturnType<typeof everyReversal>>

describe.each([
  ['the audit', false],
  ['a full audit of what is sealed', true],
])('%s sees every tampered', (_, isSealed) => {
  beforeAll(async () => {
    history = await everyReversal({ isSealed })
  })

  it('figure, number and mark of a reversal', async () => {
    const { clientId, rows, unseen } = history
    const stored = await rows(reversalsPk(clientId))
    const ids = ['window', clientId, ...stored.map((item) => String(item['payment_id']))]

    const missed: string[] = []
    for (const item of stored) {
      // Of a part, and of what came again before it was swept, nothing else says when.
      const loose = item['part'] || item['undoes'] || item['undone_by'] ? ['at'] : []
      missed.push(...(await unseen(item, ids, loose)).map((what) => `${String(item['seq'])}: ${what}`))
    }

    expect(stored).toHaveLength(6)
    expect(missed).toStrictEqual([])
  })

  it('figure of what went back of a settlement', async () => {
    const { deps, settlement, unseen } = history
    const item = await rawItem(deps, settlementKey(settlement.settlementId))
    expect(item).toMatchObject({ reversed_count: 2, reversed_net_minor: 95_900 })

    const missed = await unseen(item, [settlement.settlementId, 'window'], ['slot'])

    // Who pays out must confirm one more than there is: no harm, and nothing else counts parts.
    expect(missed.filter((what) => !what.startsWith('reversed_count = 3:'))).toStrictEqual([])
  })
})

describe('a full audit sees every tampered', () => {
  beforeAll(async () => {
    history = await everyReversal({ isSealed: true })
  })

  it('attribute of an audit record', async () => {
    const { deps, clientId, rows, unseen } = history
    const records = await rows(auditRecordPk(clientId))
    expect(records).toHaveLength(2)

    // Where it is listed is not what it says.
    const loose = ['owner', 'entity', 'listed_at', 'id']
    for (const record of records) expect(await unseen(record, [clientId], loose)).toStrictEqual([])
    expect(await unseen(await rawItem(deps, auditHeadKey(clientId)), [clientId])).toStrictEqual([])
  })

  it('attribute of the seal of a window', async () => {
    const { clientId, settlement, rows, unseen } = history
    const seals = (await rows(sealsPk(clientId))).filter(({ sk }) => String(sk).startsWith(WINDOW_SEAL_PREFIX))
    expect(seals).toHaveLength(1)

    for (const seal of seals) expect(await unseen(seal, [settlement.settlementId, 'window'])).toStrictEqual([])
  })
})

it('the daily audit tells of a reversal that cannot be read', async () => {
  const { deps, clientId, rows } = await everyReversal({ isSealed: false })
  const [stored] = await rows(reversalsPk(clientId))
  const { net_minor: _, ...unreadable } = stored ?? {}

  await putRaw(deps, unreadable)
  await auditClient(deps, clientId, { again: true })

  expect(deps.published.at(-1)).toMatchObject({ kind: 'audit.imbalance', subject: clientId })
})
