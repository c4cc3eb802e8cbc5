import { type ParseArgsConfig, parseArgs } from 'node:util'

/** A tool was called wrongly: it says how, and ends with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The named options of a command line. Throws `UsageError` with the name of one that does not exist or lacks its value. */
export const readOptions = <T extends NonNullable<ParseArgsConfig['options']>>(argv: readonly string[], options: T) => {
  try {
    return parseArgs({ args: [...argv], options }).values
  } catch (error) {
    // Node's advice behind the first sentence is for tools that take positional arguments.
    throw new UsageError((error instanceof Error ? error.message : 'called wrongly').replace(/\. [\s\S]*$/, ''))
  }
}
