const USUAL_OPERATIONS = 36
/** A few long histories meet what grows: lists, windows, and sums that are read in steps. */
const LONG_OPERATIONS = 180
const LONG_EVERY = 25

export const operationsOf = (seed: number): number => (seed % LONG_EVERY === 0 ? LONG_OPERATIONS : USUAL_OPERATIONS)
