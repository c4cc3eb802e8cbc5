import { describe, expect, it } from 'vitest'
import { NO_FAULTS } from '../world/faults.ts'
import type { Tally } from '../world/world.ts'
import { missingSituations, SITUATIONS } from './situations.ts'

const namesWithin = (most: number) => [...SITUATIONS].filter(([, within]) => within <= most).map(([name]) => name)

describe('situations that histories must meet', () => {
  it.each([25, 250, 1_000])('are named when none of them happened in %i histories', (histories) => {
    expect(missingSituations(new Map(), histories)).toStrictEqual(namesWithin(histories))
    expect(namesWithin(histories).length).toBeGreaterThan(namesWithin(histories - 1).length)
  })

  it('are named alone where all others happened', () => {
    const tally: Tally = new Map([...SITUATIONS.keys()].map((name) => [name, 1]))
    tally.delete('fault crash')
    tally.delete('reversal: voided whole, open')

    expect(missingSituations(tally, 25)).toStrictEqual(['fault crash'])
    expect(missingSituations(tally, 1_000)).toStrictEqual(['fault crash', 'reversal: voided whole, open'])
  })

  it('are every fault there is, and nothing is asked of fewer than twenty-five histories', () => {
    expect(namesWithin(1_000)).toStrictEqual(
      expect.arrayContaining(Object.keys(NO_FAULTS).map((fault) => `fault ${fault}`)),
    )
    expect(missingSituations(new Map(), 24)).toStrictEqual([])
  })
})
