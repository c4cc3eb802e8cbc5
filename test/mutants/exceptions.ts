/** Mutants that change nothing a test could see: their ids, by the reason. */
const UNSEEN: Readonly<Record<string, readonly string[]>> = {}

export const EXCEPTIONS: ReadonlySet<string> = new Set(Object.values(UNSEEN).flat())
