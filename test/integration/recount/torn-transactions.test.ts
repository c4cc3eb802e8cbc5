/**
 * Goal: whatever a restore left of the last transaction, one recount repairs it. Method: each flow of money runs on a
 * table in memory, and its transactions are recorded. Of each, every torn state is made: each item missing, each item
 * alone, each prefix. Then the audit, the recount of what it shows, and the audit again; then the provider calls again and
 * the sync reads every row, twice.
 */
import { describe, it } from 'vitest'
import { hearCallbacks } from './after-recount.ts'
import { FLOWS } from './torn-flows.ts'
import { expectHealed, recount, tornOf } from './torn-world.ts'

describe.each(Object.entries(FLOWS))('a restore in the midst of a payment that %s', async (_, flow) => {
  const torn = await tornOf(flow)

  it.each(torn.states)('$title', async ({ world }) => {
    const deps = world()

    await recount(deps, torn.client)

    await expectHealed(deps, torn)
  })
})

/** Callbacks may come before the recount. The sync may not: it would post an open payment a second time. */
describe.each(Object.entries(FLOWS).filter(([name]) => /^(succeed|fail|expire|is cancelled)/.test(name)))(
  'an hour of callbacks before the recount of a payment that %s',
  async (_, flow) => {
    const torn = await tornOf(flow)

    it.each(torn.states)('$title', async ({ world }) => {
      const deps = world()
      deps.clock.advance(3_600)
      await hearCallbacks(deps)

      await recount(deps, torn.client)

      await expectHealed(deps, torn)
    })
  },
)
