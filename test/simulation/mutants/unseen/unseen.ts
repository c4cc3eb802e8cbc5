import { BESIDE } from './beside.ts'
import { OUTSIDE } from './outside.ts'
import { SECOND_LOCKS } from './second-locks.ts'

/**
 * Why random histories cannot notice a mutant, or need not: such a one is left out of the share that must die by them
 * (`npm run mutants -- --histories`). The tests that the list names notice every one.
 */
export const unseenBy = (name: string): string | undefined => SECOND_LOCKS[name] ?? BESIDE[name] ?? OUTSIDE[name]
