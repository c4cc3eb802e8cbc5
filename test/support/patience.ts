/**
 * How long a test waits for a condition or another process. Only what never comes takes as long, on
 * any machine.
 */
export const PATIENCE_MS = 300_000

/** A deadline that never ends a call of a test: a test itself ends before. */
export const NEVER_MS = 3_600_000
