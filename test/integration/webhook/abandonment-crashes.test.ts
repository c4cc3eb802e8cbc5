import { describe, expect, it } from 'vitest'
import { tellAbandonments } from '../../../shared/webhook/delivery/tell-abandonments.ts'
import { dies, everyDeath, processThatDies } from '../../support/dying-process.ts'
import { beforeFirst, interceptTable } from '../../support/intercept-table.ts'
import { abandonMany, alertIn, dueAlerts, left, namedIn, world } from './abandoned-world.ts'

describe('a worker that dies while it tells', () => {
  const waiting = async () => {
    const { deps, endpoint } = await world()
    const ids = await abandonMany(deps, endpoint, 3)
    deps.clock.advance(900)
    deps.published.length = 0
    return { deps, endpoint, ids: ids.slice(1) }
  }

  it('is followed by one that says the same under the same id, at every death', async () => {
    const whole = await waiting()
    const alive = processThatDies(whole.deps)
    await tellAbandonments(alive.deps, whole.endpoint)
    expect(alive.calls).toHaveLength(8)

    for (const death of everyDeath(alive.calls.length)) {
      const { deps, endpoint, ids } = await waiting()
      const mortal = processThatDies(deps, death)
      expect(await dies(() => tellAbandonments(mortal.deps, endpoint))).toBe(true)
      await dueAlerts(deps)
      deps.clock.advance(60)
      await dueAlerts(deps)

      expect([death, namedIn(deps, ids)]).toStrictEqual([death, deps.published.map(() => ids)])
      expect(new Set(deps.published.map(({ message }) => alertIn(message))).size).toBe(1)
      expect(left(deps)).toStrictEqual([])
    }
  })

  it('publishes nothing when it wakes behind the end of its claim', async () => {
    const { deps, endpoint, ids } = await waiting()
    const frozen = interceptTable(deps, {
      after: async ({ name }) => {
        if (name !== 'update' || deps.published.length > 0) return
        deps.clock.advance(60)
        await tellAbandonments(deps, endpoint)
      },
    })

    await tellAbandonments(frozen, endpoint)

    expect(namedIn(deps, ids)).toStrictEqual([ids])
  })
})

describe('two workers at once', () => {
  it('publish one message', async () => {
    const { deps, endpoint } = await world()
    const ids = await abandonMany(deps, endpoint, 3)
    deps.clock.advance(900)
    const late = beforeFirst(deps, 'update', () => tellAbandonments(deps, endpoint))

    await tellAbandonments(late, endpoint)

    expect(namedIn(deps, ids)).toStrictEqual([ids.slice(0, 1), ids.slice(1)])
  })
})
