/** Who must notice. */
type Checks = {
  /** Vitest files of which one must fail, by their names without folder and ending. They run first. */
  readonly tests?: readonly string[]
  /** Random histories of the simulation, of which one must fail where the tests above did not. */
  readonly histories?: true
  /** Flows of the simulation that are killed at every await, after which something must be wrong. */
  readonly crashes?: readonly string[]
}

/**
 * What changes in a declaration: `drop CODE` or `CODE -> CODE`. Code is found by its syntax and not by how it is laid
 * out: `_` in it stands for anything and `..._` for any number of arguments, elements or properties; behind the arrow
 * they stand for what was found. What is dropped is a statement, a guard (named by its condition), a condition of
 * `all(…)` or `&&`, a step of a transaction, an argument or an element.
 */
type Edit = string

/** One way to break the gateway on purpose. Some test must notice. */
export type Mutant = Checks & {
  /** What is broken, in words. */
  readonly name: string
  /** A function, constant or class at the top of some file: its name, behind `file/` where several are called so. */
  readonly symbol: string
  readonly edit: Edit
  /** Why no test can notice: listed, and held to surviving. */
  readonly equivalent?: string
  /** Why random histories cannot notice it, or need not. */
  readonly unseen?: string
  /** It breaks a promise: the random histories alone must notice within so many seeds (`--histories --promised`). */
  readonly diesWithin?: number
}

type Entry = Edit | (Checks & Pick<Mutant, 'edit' | 'equivalent' | 'diesWithin'>)

/** Mutants of one declaration by their names, and the tests that must notice those that name no others. */
export const mutantsOf = (
  symbol: string,
  tests: readonly string[],
  entries: Readonly<Record<string, Entry>>,
): readonly Mutant[] =>
  Object.entries(entries).map(([name, entry]) => ({
    name,
    symbol,
    tests,
    ...(typeof entry === 'string' ? { edit: entry } : entry),
  }))

/** The mutant left to the random histories alone; what they cannot notice says why. */
export const byHistories = (
  { name, symbol, edit, diesWithin, equivalent }: Mutant,
  unseenBy: (name: string) => string | undefined,
): Mutant => {
  const unseen = unseenBy(name) ?? equivalent
  return {
    name,
    symbol,
    edit,
    histories: true,
    ...(diesWithin !== undefined && { diesWithin }),
    ...(unseen !== undefined && { unseen }),
  }
}
