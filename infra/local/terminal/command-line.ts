import { type ParseArgsConfig, parseArgs } from 'node:util'
import { printableLines } from './printable.ts'

/** A tool was called wrongly: it says how, and ends with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The number a text is, digit by digit: `10.000`, `1e3` and `0x10` are none, nor is what a double cannot hold exactly. */
export const wholeNumber = (text: string): number | undefined => {
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

/** Whether the command line asks what there is to say, wherever in it. */
export const asksForHelp = (argv: readonly string[]): boolean => argv.some((one) => one === '--help' || one === '-h')

type Options = NonNullable<ParseArgsConfig['options']>

/** The named options of a command line. Throws `UsageError` with the name of one that does not exist, lacks its value or comes twice. */
export const readOptions = <T extends Options>(argv: readonly string[], options: T) => read(argv, options, false).values

/** The same of a command line that also names one thing, as `wanted` calls it. Throws `UsageError` when it is not one. */
export const readOptionsOf = <T extends Options>(wanted: string, argv: readonly string[], options: T) => {
  const { values, positionals } = read(argv, options, true)
  const [thing, ...more] = positionals
  if (thing === undefined || thing === '' || more.length > 0) throw new UsageError(`name one ${wanted}`)
  return { values, thing }
}

const read = <T extends Options>(argv: readonly string[], options: T, allowPositionals: boolean) => {
  const { values, positionals, tokens } = parsed(argv, options, allowPositionals)
  const given = tokens.filter((token) => token.kind === 'option')
  const names = given.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice`)
  // As of a variable that is not set.
  const empty = given.find(({ value }) => value === '')
  if (empty !== undefined) throw new UsageError(`--${empty.name} needs a value`)
  return { values, positionals }
}

const parsed = <T extends Options>(argv: readonly string[], options: T, allowPositionals: boolean) => {
  try {
    return parseArgs({ args: [...argv], options, tokens: true, allowPositionals })
  } catch (error) {
    // Node's advice behind the first sentence is for tools that take positional arguments.
    throw new UsageError((error instanceof Error ? error.message : 'called wrongly').replace(/\. [\s\S]*$/, ''))
  }
}

/** A script's own work behind its command line: its exit code, or 2 with its usage when it was called wrongly. */
export const runCommand = async (
  usage: string,
  argv: readonly string[],
  run: (argv: readonly string[]) => Promise<number>,
): Promise<number> => {
  if (asksForHelp(argv)) {
    console.log(usage)
    return 0
  }
  try {
    return await run(argv)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(printableLines(`${error.message}\n\n${usage}`))
    return 2
  }
}
