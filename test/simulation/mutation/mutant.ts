/** One way to break the gateway on purpose. Some test must notice. */
export type Mutant = {
  /** What is broken, in words. */
  readonly name: string
  readonly file: string
  /** Text that occurs exactly once in the file, and what stands there instead. */
  readonly find: string
  readonly replace: string
  /** Vitest files of which one must fail: paths below `test`, without the ending. They run first. */
  readonly tests?: readonly string[]
  /** Random histories of the simulation, of which one must fail where the tests above did not. */
  readonly histories?: true
  /** Flows of the simulation that are killed at every await, after which something must be wrong. */
  readonly crashes?: readonly string[]
  /** Why no test can notice: listed, and held to surviving. */
  readonly equivalent?: string
}

/** Mutants of one file; each has a test, or a reason why there can be none. */
export const mutantsOf = (file: string, mutants: readonly Omit<Mutant, 'file'>[]): readonly Mutant[] =>
  mutants.map((mutant) => ({ ...mutant, file }))

/** The mutant left to the random histories alone. */
export const byHistories = ({ name, file, find, replace }: Mutant): Mutant => ({
  name,
  file,
  find,
  replace,
  histories: true,
})

const occurrences = (text: string, find: string): number => text.split(find).length - 1

/** The file's text with the mutant in it. Throws when the text it replaces is not there exactly once. */
export const applyTo = (text: string, { name, file, find, replace }: Mutant): string => {
  const times = occurrences(text, find)
  if (times !== 1) throw new Error(`"${name}": its text occurs ${times} times in ${file}`)
  return text.replace(find, () => replace)
}
