import { count, type Tally } from '../world/tally.ts'
import type { World } from '../world/world.ts'
import { SITUATIONS, type SituationName } from './situations.ts'

/** Records that a situation has come about: at the place where it takes effect. */
export const meet = ({ tally }: Pick<World, 'tally'>, name: SituationName): void => count(tally, `sometimes: ${name}`)

/** What should have happened in so many histories, from the first seed on, and never did. */
export const missingSituations = (tally: Tally, histories: number): readonly string[] =>
  [...SITUATIONS].filter(([name, { within }]) => within <= histories && !tally.has(name)).map(([name]) => name)
