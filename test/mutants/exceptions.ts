/** Mutants that change nothing a test could see, by their ids: each with the reason. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {}
