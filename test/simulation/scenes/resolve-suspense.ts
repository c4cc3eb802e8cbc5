import { lookUp, operate } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import type { Scene } from './scene.ts'

const RESOLUTIONS = { money: ['refunded_by_bank', 'written_off'], finding: ['explained', 'explained'] } as const

type Listed = { readonly suspense_id: string; readonly kind: keyof typeof RESOLUTIONS }

/** An operator closes what is held or found; sometimes two at once, each in another way. */
export const resolveSuspense = async ({ world, seen }: Scene): Promise<void> => {
  const { prng } = world
  const listed = await lookUp(world, 'list-suspense', { status: 'open', per_page: 100 })
  const items = (listed?.body['data'] ?? []) as readonly Listed[]
  if (items.length === 0) return
  const { suspense_id: id, kind } = prng.pick(items)
  const resolutions = RESOLUTIONS[kind]
  const resolve = (resolution: string) =>
    operate(world, 'resolve-suspense', {
      suspense_id: id,
      resolution,
      notes: `note ${prng.int(1, 9)}`,
    })
  const asked = prng.chance(0.4) ? resolutions : [prng.pick(resolutions)]
  const replies = await Promise.all(asked.map(resolve))
  const taken = replies.filter((reply) => reply?.status === 200).length
  if (taken > 0) count(world.tally, `suspense resolved: ${kind}`)
  if (taken > 1) seen.problems.push(`${id} was resolved by two operators`)
}
