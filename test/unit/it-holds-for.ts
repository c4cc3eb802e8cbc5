import * as fc from 'fast-check'
import { it } from 'vitest'

/** A failure shows the shrunk values, and the seed that repeats it. */
export function itHoldsFor<Values extends [unknown, ...unknown[]]>(
  ...drawn: { [At in keyof Values]: fc.Arbitrary<Values[At]> }
) {
  return (
    sentence: string,
    property: (...values: Values) => void | Promise<void>,
    parameters: fc.Parameters<Values> = {},
  ) =>
    it(sentence, () => {
      const holds = fc.asyncProperty(...drawn, async (...values) => property(...values))
      return fc.assert(holds, parameters)
    })
}
