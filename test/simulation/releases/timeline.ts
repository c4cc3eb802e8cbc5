import { operationsOf } from '../histories/history.ts'
import type { Play } from '../histories/operations.ts'
import { createPrng } from '../world/prng.ts'
import type { World } from '../world/world.ts'
import { type Out, type Releases, startTwoReleases } from './start-two-releases.ts'
import { watchFormer } from './watch-former.ts'
import { watchHandovers } from './watch-handovers.ts'
import { watchRollbacks } from './watch-rollbacks.ts'

/** What comes next of what is out, before each operation: how likely, and what; else it stays as it is. */
const NEXT: Readonly<Record<Out, readonly (readonly [number, Out])[]>> = {
  former: [
    [0.15, 'both'],
    [0.03, 'now'],
  ],
  both: [
    [0.2, 'both'],
    [0.15, 'now'],
    [0.1, 'former'],
  ],
  now: [
    [0.06, 'both'],
    [0.04, 'former'],
  ],
}

/** A change comes in the midst of what the operation before and this one have begun. */
const LATEST_MS = 3_000
/** By this part of its usual operations a history has come to this release for good. */
const FOR_GOOD = 0.85

type Written = Parameters<World['onChange'][number]>[0]

/** What a change waits for now and then, so that it comes into the midst of it: by the write that begins it. */
const OCCASIONS: readonly ((written: Written) => boolean)[] = [
  ({ key, before, after }) => key.sk === 'PAYMENT' && before === undefined && after !== undefined,
  ({ key, before, after }) =>
    key.sk === 'DELIVERY' && after?.['claim_token'] !== undefined && before?.['claim_token'] === undefined,
  ({ key, after }) => key.sk === 'DELIVERY' && after?.['status'] === 'abandoned',
  ({ key, after }) => key.pk.endsWith('#WINDOWS') && after !== undefined,
  ({ key, after }) => key.sk === 'SETTLEMENT' && after !== undefined,
]
const SOON_MS = 30
/** And then who has begun it dies now and then, so that the other release goes on with it. */
const DIES = 0.4

const HOUR_MS = 3_600_000
/** So long the release before is alone: in every second history it settles something. */
const FIRST_HOURS = [0, 0, 30, 50]

const SALT = 0x5eed

/** Of its own source of chance: a history of one release draws what it always drew. */
export const timeline =
  (seed: number, releases: Releases) =>
  ({ world }: Play) => {
    const prng = createPrng(seed ^ SALT)
    watchFormer(world)
    watchHandovers(world)
    const cameAbout = watchRollbacks(world)
    const { enter } = startTwoReleases(world, prng, releases)
    let out: Out = 'former'
    let waiting: { readonly next: Out; readonly occasion: (typeof OCCASIONS)[number] | undefined } | undefined

    const comeAbout = () => {
      if (!waiting) return
      const { next } = waiting
      waiting = undefined
      enter(next)
      cameAbout(next)
    }
    world.onChange.push((written) => {
      if (waiting?.occasion?.(written) !== true) return
      const process = world.acting
      world.scheduler.after(prng.int(1, SOON_MS), () => {
        if (waiting && prng.chance(DIES)) process?.kill()
        comeAbout()
      })
    })

    const firstMs = world.scheduler.nowMs() + prng.pick(FIRST_HOURS) * HOUR_MS

    const drawNext = (): Out | undefined => {
      if (world.scheduler.nowMs() < firstMs) return undefined
      let at = prng.next()
      for (const [likely, next] of NEXT[out]) {
        at -= likely
        if (at < 0) return next
      }
      return undefined
    }

    const change = (next: Out) => {
      out = next
      waiting = { next, occasion: prng.chance(0.5) ? prng.pick(OCCASIONS) : undefined }
      if (!waiting.occasion) world.scheduler.after(prng.int(1, LATEST_MS), comeAbout)
    }

    return (operation?: number): void => {
      if (operation === undefined || operation > FOR_GOOD * operationsOf(seed)) {
        if (out !== 'now') change('now')
        if (operation === undefined) comeAbout()
        return
      }
      const next = drawNext()
      if (!next) return
      comeAbout()
      change(next)
    }
  }
