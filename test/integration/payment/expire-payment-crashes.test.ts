/**
 * Goal: a process may die between any two steps of an expiry or a cancel, and the payment ends as if it had not.
 * Method: a death before and after each call of table, provider and alerts; then due work goes on until nothing is due.
 */
import { describe, expect, it } from 'vitest'
import { dies, everyDeath, processThatDies } from '../../support/dying-process.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { aQris, EXPIRED, expectCancelled, expectExpired, LIFETIME_S, rest } from './ageing-payment.ts'

describe('a death at every call', () => {
  type Scene = Awaited<ReturnType<typeof aQris>>
  type Flow = {
    readonly prepare: (scene: Scene) => unknown
    readonly run: (scene: Scene, as: TestDeps) => Promise<unknown>
  }

  /** Runs the flow once for every point it reaches, and lets due work go on behind each death. */
  const dyingEverywhere = async ({ prepare, run }: Flow, judge: (scene: Scene) => Promise<void>) => {
    let deaths = 0
    for (const death of everyDeath(30)) {
      const scene = await aQris()
      await prepare(scene)
      const dying = processThatDies(scene.deps, death)
      await dies(() => run(scene, dying.deps))
      if (!dying.died()) return deaths
      deaths++
      await judge(scene)
    }
    throw new Error('the flow makes more calls than that')
  }

  const tried = async ({ loseCancel, heal }: Scene) => {
    await loseCancel('there')
    heal()
  }

  it.each<[string, Flow]>([
    ['of its expiry', { prepare: ({ passTime }) => passTime(), run: ({ check }, as) => check(as) }],
    [
      'of the expiry of one that somebody tried to cancel',
      { prepare: async (scene) => (await tried(scene), scene.passTime()), run: ({ check }, as) => check(as) },
    ],
    [
      'of a cancel past its time',
      { prepare: ({ passTime }) => passTime(), run: ({ cancel }, as) => cancel(as).catch(refusedOnly) },
    ],
  ])('%s leaves it expired, with its event', async (_name, flow) => {
    const deaths = await dyingEverywhere(flow, async ({ deps, payment }) => {
      await rest(deps, payment)
      await expectExpired(deps, payment)
    })

    expect(deaths).toBeGreaterThan(5)
  })

  it.each([
    ['before its time is over', 0],
    ['once its time is over', LIFETIME_S],
  ])('of a cancel leaves it cancelled exactly when the provider had done it, looked at %s', async (_when, seconds) => {
    const flow: Flow = { prepare: () => undefined, run: ({ cancel }, as) => cancel(as) }

    await dyingEverywhere(flow, async ({ deps, payment }) => {
      const done = deps.provider.requests.get(payment.paymentRequestId)?.status === 'cancelled'
      deps.clock.advance(seconds)
      await rest(deps, payment)
      await (done ? expectCancelled : expectExpired)(deps, payment)
    })
  })

  const refusedOnly = (error: unknown) => {
    if (!String(error).includes(EXPIRED)) throw error
  }
})
