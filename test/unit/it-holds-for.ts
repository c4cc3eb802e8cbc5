import * as fc from 'fast-check'
import { it } from 'vitest'

/** A test of what holds for all values drawn; a failure shows them, shrunk, and the seed that repeats it. */
export const itHoldsFor =
  <Values extends [unknown, ...unknown[]]>(...drawn: { [At in keyof Values]: fc.Arbitrary<Values[At]> }) =>
  (sentence: string, property: (...values: Values) => void, parameters: fc.Parameters<Values> = {}) =>
    it(sentence, () => fc.assert(fc.property(...drawn, property), parameters))
