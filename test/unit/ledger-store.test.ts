import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ClientIdSchema, PaymentIdSchema, slotOf } from '../../shared/ids.ts'
import { countTransition, credit } from '../../shared/ledger/count-store.ts'
import { moveCredit, moveOpenCredit } from '../../shared/ledger/shard-store.ts'
import { minor } from '../../shared/money.ts'
import { shardKey } from '../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../shared/table/schema.ts'
import { timestampOf } from '../../shared/time.ts'

const clientId = v.parse(ClientIdSchema, crypto.randomUUID())
const paymentId = v.parse(PaymentIdSchema, crypto.randomUUID())
const at = timestampOf(0)

describe.each([0, 1, 15])('a payment in part %i of its client', (part) => {
  const payment = { clientId, paymentId, part }
  const shard = shardKey(clientId, slotOf(paymentId, LEDGER_SHARDS), part)

  it('is counted and credited on one shard of that part, with the time of the change', () => {
    const credited = { creditedMinor: minor(100) }
    const paid = { countPending: -1, countSucceeded: 1 }

    expect([
      countTransition({ ...payment, from: undefined, to: 'pending' }),
      credit({ ...payment, from: 'pending' }, minor(100), at),
      moveOpenCredit(payment, minor(-100), at),
      moveCredit(payment, minor(100), at),
    ]).toMatchObject([
      { key: shard, changes: { add: { countPending: 1 } } },
      { key: shard, changes: { add: { ...paid, ...credited }, set: { creditedAt: at } } },
      { key: shard, changes: { add: { creditedMinor: -100 }, set: { creditedAt: at } } },
      { key: shard, changes: { add: credited, set: { creditedAt: at } } },
    ])
  })
})
