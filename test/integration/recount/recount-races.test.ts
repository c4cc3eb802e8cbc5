/**
 * Goal: money counts once, whatever a recount meets. Method: each torn state of some flows. Before each transaction of a
 * recount another recount runs, the provider calls, or the recount dies; it also dies after each. The recounts after it
 * lead to the same end. By day one state in six.
 */
import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-ledger.ts'
import type { Client } from '../../../shared/client/client.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import type { MemoryDeps } from '../../support/memory-deps.ts'
import { sampleOf } from '../../support/runs.ts'
import { hearCallbacks } from './after-recount.ts'
import { FLOWS } from './torn-flows.ts'
import { expectHealed, recount, tornOf } from './torn-world.ts'

type Meeting = { readonly when: 'before' | 'after'; readonly meet: (deps: MemoryDeps, client: Client) => Promise<void> }

const die = async (): Promise<void> => {
  throw new Error('the worker died')
}

const MEETINGS: Readonly<Record<string, Meeting>> = {
  'dies before it writes': { when: 'before', meet: die },
  'dies after it has written': { when: 'after', meet: die },
  'meets another recount': { when: 'before', meet: recount },
  'meets callbacks': { when: 'before', meet: hearCallbacks },
}

/** A recount with something at its nth transaction. Answers whether it made so many. */
const recountMeeting = async (
  deps: MemoryDeps,
  client: Client,
  { when, meet, nth }: Meeting & { readonly nth: number },
): Promise<boolean> => {
  let made = 0
  const hook = async ({ name }: { readonly name: string }) => {
    if (name === 'transact' && ++made === nth) await meet(deps, client)
  }
  // A recount that was overtaken answers 409, and one that died nothing.
  await recount(interceptTable(deps, { [when]: hook }), client).catch(() => undefined)
  return made >= nth
}

const MOST_TRANSACTIONS = 5
const MOST_ROUNDS = 3

const untilBalanced = async (deps: MemoryDeps, client: Client): Promise<void> => {
  for (let round = 0; round < MOST_ROUNDS; round++) await recount(deps, client)
  expect(await auditLedger(deps, client.clientId)).toMatchObject({ balanced: true })
}

const TAKEN = [
  'succeeds',
  'succeeds while it is created',
  'fails',
  'is posted with what went back before',
  'shows its row late',
  'is voided while it is open',
  'gets back what was written off',
  'is settled again',
]

describe.each(Object.entries(MEETINGS))('a recount that %s', (_, meeting) => {
  describe.each(Object.entries(FLOWS).filter(([name]) => TAKEN.includes(name)))(
    'of a payment that %s',
    async (__, flow) => {
      const torn = await tornOf(flow)

      it.each(sampleOf(torn.states, 6))('$title', async ({ world }) => {
        for (let nth = 1; nth <= MOST_TRANSACTIONS; nth++) {
          const deps = world()
          if (!(await recountMeeting(deps, torn.client, { ...meeting, nth }))) return
          await untilBalanced(deps, torn.client)
          await expectHealed(deps, torn)
        }
        throw new Error('the recount never ended')
      })
    },
  )
})
