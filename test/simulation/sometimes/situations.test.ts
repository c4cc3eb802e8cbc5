import { expect, it } from 'vitest'
import { type Tally } from '../world/tally.ts'
import { missingSituations, SITUATIONS } from './situations.ts'

it('missingSituations names what did not happen, if its number of seeds is reached', () => {
  const tally: Tally = new Map([...SITUATIONS.keys()].map((name) => [name, 1]))
  tally.delete('fault crash')
  tally.delete('reversal: voided whole, open')

  expect([24, 25, 1_000].map((histories) => missingSituations(tally, histories))).toStrictEqual([
    [],
    ['fault crash'],
    ['fault crash', 'reversal: voided whole, open'],
  ])
})
