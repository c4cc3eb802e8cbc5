/**
 * Goal: a window ends in the settlement that one run would make, however many runs work on it
 * together or in turn. Method: other runs act between a run's read and write; runs of one page with
 * one row must settle what one run settles.
 */

import * as v from 'valibot'
import { describe, expect, vi } from 'vitest'
import { handler as worker } from '../../../functions/queue/settle-client.ts'
import { SettlementIdSchema } from '../../../shared/ids.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { readAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { announcementOfSettlement } from '../../../shared/settlement/announce-settlement.ts'
import { triggerSettlement } from '../../../shared/settlement/settle-client.ts'
import { dropProgress, keptProgress } from '../../../shared/settlement/settlement-store.ts'
import { journalPk, windowKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { handOver } from '../../support/operator-actions.ts'
import { anOpenPayment, aSucceededPayment } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aDayLater,
  aSettledClient,
  BY_OPERATOR,
  inSteps,
  settle,
  settlementsOf,
  sweep,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { changeRow } from '../../support/tampering.ts'
import {
  aConflict,
  afterFirst,
  beforeCommit,
  interceptTable,
  queriesIn,
  recordTable,
  type TestDeps,
  withRequests,
} from '../../support/test-deps.ts'
import { clientTest, clientTest as it } from './client-test.ts'

describe('settleClient when another run settles first', () => {
  it('fails and is retried later when the window changes at each try', async ({ deps, client }) => {
    const first = deps.now()
    for (let at = 0; at < 6; at++) {
      deps.clock.set(addMs(first, at * 60_000))
      await aSucceededPayment(deps, client)
    }
    deps.clock.set(addMs(first, DAY_MS))
    const overtaken = interceptTable(deps, {
      before: async ({ name }) => {
        if (name !== 'transact') return
        await sweep(deps, client)
        deps.clock.advance(60)
      },
    })

    await expect(sweep(overtaken, client)).rejects.toThrow('kept moving')

    expect(await sweep(deps, client)).toMatchObject({ paymentCount: 1 })
    expect(await settlementsOf(deps, client)).toHaveLength(5)
  })

  it('recognises its own record after a lost answer', async ({ deps, client }) => {
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const loseAnswer = vi.fn(() => Promise.reject(aConflict()))

    const settlement = await sweep(afterFirst(deps, 'transact', loseAnswer), client)

    expect(loseAnswer).toHaveBeenCalledOnce()
    expect([settlement]).toEqual(await settlementsOf(deps, client))
  })
})

const ALL_FIVE = { paymentCount: 5, entryCount: 5, grossMinor: 500_000, netMinor: 5 * 95_900 }

async function drainQueue(deps: TestDeps) {
  let runs = 0
  for (; deps.sent.length > 0 && runs < 100; runs += 2) {
    const [next] = deps.sent.splice(0)
    for (let time = 0; time < 2; time++) await handOver(worker, deps, [next?.message.body])
  }
  return runs
}

/**
 * The `it` for a client with two payments in the first millisecond, and one payment in each of the
 * next three milliseconds. The client's digests have blocks of one entry, so each test audits the
 * books itself, with its own blocks.
 */
const stepped = clientTest.extend('client', async ({ deps }) => {
  const client = await withoutFloor(deps)
  const times = [0, 0, 1, 2, 3].map((ms) => addMs(deps.now(), ms))
  for (const paidAt of times) await aSucceededPayment(deps, client, { paidAt })
  deps.clock.advance(600)
  aDayLater(deps)
  return client
})

describe('a window with too many entries for one run', () => {
  stepped(
    'is settled in the name of the operator, whose answer says that the settlement continues',
    async ({ deps, client }) => {
      const small = inSteps(deps)
      const { operator } = BY_OPERATOR
      const callerDeps = { ...small, invocation: { requestId: 'r-1', recorded: () => {} } }

      const answer = await triggerSettlement(callerDeps, { clientId: client.clientId, operator })

      expect(answer).toMatchObject({ settlement: undefined, isContinuing: true })
      // Four more rows take a run each. The last message has two runs, which find nothing.
      expect(await drainQueue(small)).toBe(4 + 2)
      const [settlement] = await settlementsOf(deps, client)
      expect(settlement).toMatchObject({ ...ALL_FIVE, triggeredBy: 'manual' })
      const { records } = await readAuditRecords(deps, settlement?.settlementId ?? '')
      expect(records).toMatchObject([{ operator, requestId: 'r-1' }])
      await expectBalanced(small, client)
    },
  )

  stepped.for([1, 2, 3])(
    'has the digest of one run in blocks of %i',
    async (block, { deps, client }) => {
      const small = inSteps(deps, 2, 1, block)
      await settle(small, client)
      await drainQueue(small)

      expect(await settlementsOf(deps, client)).toMatchObject([ALL_FIVE])
      await expectBalanced(small, client)
    },
  )

  stepped('is summed anew when its progress cannot be read', async ({ deps, client }) => {
    await settle(inSteps(deps), client)
    const progress = { start: (await readWindow(deps, client.clientId)).settledUntil, end: 0 }
    await changeRow(deps, windowKey(client.clientId), { set: { progress } })

    await sweep(deps, client)

    expect(await settlementsOf(deps, client)).toMatchObject([ALL_FIVE])
  })

  stepped(
    'is summed under another id when a restore left only the announcement of its settlement',
    async ({ deps, client }) => {
      const small = inSteps(deps)
      await settle(small, client)
      const kept = keptProgress(await readWindow(deps, client.clientId))
      const { settlementId } = v.parse(v.object({ settlementId: SettlementIdSchema }), kept)
      const other = (await aSettledClient(deps)).settlement
      const lost = { ...other, settlementId, clientId: client.clientId }
      const { steps } = await announcementOfSettlement(deps, lost, deps.now())
      await deps.table.transact(steps)

      await drainQueue(small)

      const settlements = await settlementsOf(deps, client)
      expect(settlements).toMatchObject([ALL_FIVE])
      expect(settlements[0]?.settlementId).not.toBe(settlementId)
    },
  )

  stepped('keeps the sum of a faster run when it is dropped', async ({ deps, client }) => {
    const window = () => readWindow(deps, client.clientId)
    await settle(inSteps(deps), client)
    const read = await window()
    await settle(inSteps(deps), client)
    const kept = keptProgress(await window())
    await dropProgress(deps, client.clientId, read)

    expect(keptProgress(await window())).toStrictEqual(kept)
    expect(kept).toBeDefined()
  })

  stepped('is recorded once by two runs that continue one sum', async ({ deps, client }) => {
    await settle(inSteps(deps), client)
    const overtaken = beforeCommit(deps, async () => {
      await sweep(deps, client)
      deps.clock.advance(1)
    })

    expect(await sweep(overtaken, client)).toBeUndefined()

    expect(await settlementsOf(deps, client)).toMatchObject([ALL_FIVE])
  })

  stepped('is not read from its beginning again', async ({ deps, client }) => {
    const small = inSteps(deps)
    await settle(small, client)
    await settle(small, client)
    const { deps: recorded, calls } = recordTable(small)

    await settle(recorded, client)

    const starts = queriesIn(calls).flatMap(({ partition, cursor }) =>
      String(partition).startsWith('JOURNAL') ? [cursor !== undefined] : [],
    )
    // The first read is one row from the beginning; the sum continues after the position.
    expect(starts.slice(0, 2)).toStrictEqual([false, true])
  })

  const depsOvertakenBy = (deps: TestDeps, otherRun: () => Promise<unknown>) => {
    let times = 0
    return interceptTable(deps, {
      before: async (call) => {
        const isKeeping =
          call.name === 'update' && JSON.stringify(call.steps).includes('progressNumber')
        if (isKeeping && times++ < 2) await otherRun()
      },
    })
  }

  stepped(
    'keeps no progress when another run has swept the window meanwhile',
    async ({ deps, client }) => {
      const small = depsOvertakenBy(inSteps(deps), () => sweep(inSteps(deps, 100, 1), client))

      expect(await settle(small, client)).toMatchObject({
        settlement: undefined,
        isContinuing: true,
      })

      expect(await deps.table.get(windowKey(client.clientId))).not.toHaveProperty('progress')
      expect(await drainQueue(inSteps(deps))).toBe(2)
      expect(await settlementsOf(deps, client)).toMatchObject([ALL_FIVE])
      await expectBalanced(inSteps(deps), client)
    },
  )

  stepped(
    'is summed once by a run that another run overtakes, so that no run lasts too long',
    async ({ deps, client }) => {
      const small = inSteps(deps)
      const { deps: recorded, calls } = recordTable(small)

      const overtaken = depsOvertakenBy(recorded, () => settle(small, client))

      await settle(overtaken, client)

      expect(
        queriesIn(calls).filter(({ partition }) => String(partition).startsWith('JOURNAL')),
      ).toHaveLength(2)
      await drainQueue(small)
      expect(await settlementsOf(deps, client)).toMatchObject([ALL_FIVE])
      await expectBalanced(small, client)
    },
  )

  stepped(
    'sends one message for the next run, also when overdue payments remain',
    async ({ deps, client }) => {
      for (let paid = 0; paid < 51; paid++) await anOpenPayment(deps, client)
      deps.clock.pass(7 * DAY_MS + 1)

      await settle(inSteps(deps), client)

      expect(deps.sent).toMatchObject([{ message: { body: { client_id: client.clientId } } }])
      await expectBalanced(inSteps(deps), client)
    },
  )
})

it.for([299, 301])(
  'entries of %d seconds before the end of a window are settled, while each read shows others, only beyond five minutes',
  async (seconds, { deps, client }) => {
    const isSettled = seconds > 300
    await aSucceededPayment(deps, client)
    await aSucceededPayment(deps, client, { notionalMinor: 50_000 })
    aDayLater(deps)
    deps.clock.advance(seconds)
    let looks = 0
    // Each other read of the journal misses its last entry.
    const query: TestDeps['requests']['query'] = async (input) => {
      const page = await deps.requests.query(input)
      const hasEntries = input.partition[0] === journalPk(client.clientId) && page.count > 0
      if (!hasEntries || ++looks % 2 === 0) return page
      return { ...page, items: page.items.slice(0, -1), count: page.count - 1 }
    }

    const unsure = sweep(withRequests(deps, { ...deps.requests, query }), client)
    if (isSettled) await unsure
    else await expect(unsure).rejects.toThrow('kept changing')

    expect(await settlementsOf(deps, client)).toHaveLength(Number(isSettled))
    await sweep(deps, client)
    expect(await settlementsOf(deps, client)).toMatchObject([{ paymentCount: 2 }])
  },
)
