import { QUEUE_NAMES } from '../../../shared/queues.ts'
import type { LoadedFunction } from '../world/handlers.ts'
import type { Prng } from '../world/prng.ts'
import { SETTLING } from '../world/restrictions.ts'
import { count } from '../world/tally.ts'
import { tell, type World } from '../world/world.ts'

export type Release = ReadonlyMap<string, LoadedFunction>
export type Releases = { readonly former: Release; readonly now: Release }

/** What a stage has: the release before alone, this one alone, or an update from one to the other that is under way. */
export type Out = 'former' | 'both' | 'now'

/** The part of a function's invocations that meets this release. Where that release has no such function, it is there or not. */
type Share = number

/**
 * As CloudFormation and CodeDeploy exchange them (infra/stack/functions/canary-deployments.ts): each function by itself.
 * What answers HTTP has an alias, which leads a tenth of the requests, or all, to the new version; whatever else there is
 * is exchanged at once, and which is first nobody says. A person may have moved an alias by hand (docs/runbook.md), so
 * that half of it is as good as a tenth.
 */
const drawShare = (prng: Prng, { spec }: LoadedFunction, hasBoth: boolean): Share =>
  hasBoth && spec.trigger.kind === 'http' ? prng.pick([0, 0.1, 0.5, 0.5, 1]) : prng.pick([0, 1])

const drawShares = (out: Out, prng: Prng, { former, now }: Releases): ReadonlyMap<string, Share> =>
  new Map(
    [...now].map(([name, version]) => {
      if (out !== 'both') return [name, out === 'now' ? 1 : 0]
      return [name, drawShare(prng, version, former.has(name))]
    }),
  )

/**
 * Has a world run two releases on one table and one set of queues, beginning with the release before. An invocation meets
 * a version by the share of its function, as a weighted alias leads it; each version has its own warm environments.
 */
export const startTwoReleases = (world: World, prng: Prng, releases: Releases) => {
  const { now } = releases
  let shares: ReadonlyMap<string, Share> = new Map()
  let former = releases.former

  /** Environments of a version that nothing leads to any more are not met again; what runs in one comes to its end. */
  const forget = () => {
    for (const [name, share] of shares) {
      const gone = share === 0 ? now.get(name) : share === 1 ? former.get(name) : undefined
      if (gone) world.idle.delete(gone)
    }
  }

  const enter = (out: Out): void => {
    shares = drawShares(out, prng, releases)
    if (out !== 'former') former = new Map([...releases.former].filter(([name]) => !SETTLING.includes(name)))
    const there = [...shares].flatMap(([name, share]) => {
      const version = share > 0 ? now.get(name) : former.get(name)
      return version ? [[name, version] as const] : []
    })
    world.functions = new Map(there)
    forget()
    count(world.tally, `two releases: ${out}`)
    tell(world, () => `out is ${out}: ${[...shares].map(([name, share]) => `${name} ${share}`).join(', ')}`)
    // What waits in a queue is taken by whoever reads it now.
    for (const queue of QUEUE_NAMES) for (const listen of world.onSent) listen(queue)
  }

  world.beside = {
    versionOf: (name) => {
      const share = shares.get(name) ?? 0
      const isNow = share === 1 || (share > 0 && prng.chance(share))
      return isNow ? now.get(name) : former.get(name)
    },
    isNow: (name) => shares.get(name) === 1,
  }
  enter('former')
  return { enter }
}
