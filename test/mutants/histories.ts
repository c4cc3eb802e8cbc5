/**
 * Random histories of the simulation as a file of tests. `npm run mutants` alone asks it, after
 * every other file.
 */
import { expect, it } from 'vitest'
import { runHistory } from '../simulation/histories/history.ts'

it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'the history of seed %i keeps every promise',
  async (seed) => {
    expect((await runHistory({ seed })).problems).toStrictEqual([])
  },
)
