/**
 * Goal: a recount writes what the audit expects, or nothing. Method: a client in memory whose rows
 * are changed by hand.
 */

import { describe, expect } from 'vitest'
import { judgeById } from '../../../shared/audit/judged/judge-payments.ts'
import type { Client } from '../../../shared/client/client.ts'
import { eraseCustomers } from '../../../shared/inquiry/erase-customers.ts'
import { standingFigures } from '../../../shared/journal/payment-money.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { less, ZERO } from '../../../shared/money.ts'
import { readAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { entriesOf, moneyOf } from '../../../shared/posting/payment-entries.ts'
import { entryKey, shardKey, windowKey } from '../../../shared/table/keys.ts'
import { exists, remove, update } from '../../../shared/table/step.ts'
import { addMs } from '../../../shared/time.ts'
import { type Difference, MAX_DIFFERENCES } from '../../../shared/verdict/difference.ts'
import { adjustBalance, aRefund } from '../../support/money-rows.ts'
import { aSucceededPayment, post } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { payOut, sweptADayLater, withoutFloor } from '../../support/settlement-builders.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeFirst,
  depsWithLateIndexes,
  type MemoryDeps,
  memoryDeps,
} from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { clientTest } from '../settlement/client-test.ts'
import {
  clientWithEndpoints,
  differencesOf,
  expectRefused,
  recount,
  removeEvent,
} from './torn-world.ts'

async function world() {
  const deps = memoryDeps()
  const client = await withoutFloor(deps)
  const { payment } = await creditedPayment(deps, client, { customer: { name: 'Siti' } })
  return { deps, client, payment: await post(deps, payment) }
}

const it = testWith(world, 'deps', 'client', 'payment')

function addCredit(deps: MemoryDeps, { clientId }: Client, creditedMinor: number) {
  return deps.table.write(
    update(shardKey(clientId, 3), { add: { creditedMinor }, set: { creditedAt: deps.now() } }),
  )
}

/** Adds to what the window has paid out, while several runs sum the window. */
function addPaidOut(deps: MemoryDeps, { clientId }: Client) {
  return deps.table.write(
    update(windowKey(clientId), { add: { paidOutMinor: 1 }, set: { progress: {} } }),
  )
}

describe('recount-ledger', () => {
  it('writes the figures that the audit expects, all or none, with a record of the operator', async ({
    deps,
    client,
  }) => {
    await addCredit(deps, client, 7)
    await addPaidOut(deps, client)
    const differences = await differencesOf(deps, client)
    const message = expect.stringContaining('the audit finds more') as unknown
    await expectRefused(deps, client, { message }, differences.slice(0, 1))

    expect(await recount(deps, client, differences)).toMatchObject({
      written: differences,
      left: [],
    })

    await expectBalanced(deps, client.clientId)
    expect(await readWindow(deps, client.clientId)).not.toHaveProperty('progress')
    const record = { operator: 'ana', action: 'recount-ledger', after: { repaired: differences } }
    expect((await readAuditRecords(deps, client.clientId)).records.at(-1)).toMatchObject(record)
  })

  it('compares the gap, not the figures, while payments continue', async ({ deps, client }) => {
    // The shards may have changes of the last minute or not.
    deps.clock.advance(120)
    await addCredit(deps, client, -7)
    const differences = await differencesOf(deps, client)
    await aSucceededPayment(deps, client)
    deps.clock.advance(120)

    await recount(deps, client, differences)

    await expectBalanced(deps, client.clientId)
  })

  it.for<[string, readonly Difference[], RegExp]>([
    [
      'is not found now',
      [{ what: 'ledger.credited_minor', id: 'x', expected: 1, found: 2 }],
      /does not find/,
    ],
    [
      'concerns suspense',
      [{ what: 'suspense.held_minor', id: 'py-1', expected: 1, found: 0 }],
      /does not repair/,
    ],
    [
      'concerns an audit record',
      [{ what: 'audit_record', id: 'x', expected: 'a complete chain', found: '' }],
      /does not repair/,
    ],
  ])(
    'refuses a difference that %s, and writes nothing',
    async ([, expected, message], { deps, client }) => {
      await expectRefused(deps, client, { message: expect.stringMatching(message) }, expected)
    },
  )

  it('refuses a credit that the index of open payments lists ninety seconds later', async () => {
    const { deps, catchUp } = depsWithLateIndexes('PAYMENT#')
    const client = await withoutFloor(deps)
    const { payment } = await creditedPayment(deps, client)
    const listedAt = addMs(deps.now(), 90_000)
    const sleep = async (ms: number) => {
      await deps.sleep(ms)
      if (deps.now() >= listedAt) catchUp()
    }
    const netMinor = standingFigures(moneyOf(payment)).netMinor
    const unlistedCredit = {
      what: 'ledger.credited_minor',
      id: client.clientId,
      expected: 0,
      found: netMinor,
    }

    await expect(recount({ ...deps, sleep }, client, [unlistedCredit])).rejects.toThrow(
      /does not find/,
    )

    await expectBalanced(deps, client.clientId)
  })

  it('refuses with the name of the entry that an operator must repair, and writes no figure', async ({
    deps,
    client,
  }) => {
    const { entry } = await adjustBalance(deps, client, 'correction', 5_000)
    await deps.table.write(remove(entryKey(client.clientId, entry), exists))

    const fieldErrors = { expected: [expect.stringMatching(/^entry of /) as unknown] }
    await expectRefused(deps, client, { code: 'validation', details: { fieldErrors } })
  })
})

type Act = (deps: MemoryDeps, client: Client, payment: Payment) => Promise<unknown>

/** Removes the entry and its effect on the shards, so that no figure differs. */
async function removeEntry(deps: MemoryDeps, client: Client, payment: Payment) {
  for (const entry of entriesOf(payment))
    await deps.table.write(remove(entryKey(payment.clientId, entry), exists))
  await addCredit(deps, client, less(ZERO, payment.netMinor))
}
function refund(deps: MemoryDeps, _: Client, payment: Payment) {
  return movePayment(deps, payment, aRefund(deps, 1_000))
}
function recover(deps: MemoryDeps, client: Client) {
  return adjustBalance(deps, client, 'correction', 5_000)
}
function erase(deps: MemoryDeps, _: Client, { paymentId }: Payment) {
  return eraseCustomers(deps, { paymentId }, 'ana')
}

it.for<[string, tear: Act, concurrentAct: Act]>([
  ['its shard is credited', (deps, client) => addCredit(deps, client, 7), recover],
  ['its window moves', addPaidOut, addPaidOut],
  ['its payment is refunded', removeEntry, refund],
  ['its customer is erased', removeEvent, erase],
])(
  'a recount writes nothing when %s before its write; the next recount repairs the books',
  async ([, tear, concurrentAct], { deps, client, payment }) => {
    await tear(deps, client, payment)
    const differences = await differencesOf(deps, client)
    const overtaken = beforeFirst(deps, 'transact', () => concurrentAct(deps, client, payment))

    await expect(recount(overtaken, client, differences)).rejects.toMatchObject({
      code: 'conflict',
    })

    await recount(deps, client)
    await expectBalanced(deps, client.clientId)
  },
)

const ENDPOINTS = 20

it('a recount repairs named differences even if the audit has more differences than it lists', async () => {
  const { deps, client } = await clientWithEndpoints(ENDPOINTS)
  const namedDifferences: Difference[] = []
  for (let at = 0; at <= MAX_DIFFERENCES / ENDPOINTS; at++) {
    const { payment } = await creditedPayment(deps, client)
    for (const { pk, sk } of deps.stored.items('DELIVERY#')) {
      await deps.table.write(remove({ pk: String(pk), sk: String(sk) }, exists))
    }
    const [judged] = await judgeById(deps, client, [payment.paymentId])
    expect(judged?.differences).toHaveLength(ENDPOINTS)
    namedDifferences.push(...(judged?.differences.slice(0, 1) ?? []))
  }

  expect((await recount(deps, client, namedDifferences)).written).toStrictEqual(namedDifferences)
})

clientTest(
  'recount-ledger counts a payout that the window has lost, at the time of the payout',
  async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    const settlement = await sweptADayLater(deps, client)
    const lostWindow = await rawItem(deps, windowKey(client.clientId))
    const { settledAt } = await payOut(deps, settlement)
    const windowAfter = await readWindow(deps, client.clientId)
    await putRaw(deps, lostWindow)

    await recount(deps, client)

    expect(await readWindow(deps, client.clientId)).toStrictEqual(windowAfter)
    expect(windowAfter).toMatchObject({ paidOutMinor: settlement.netMinor, changedAt: settledAt })
  },
)
