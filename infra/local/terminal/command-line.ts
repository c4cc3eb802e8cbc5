import { type ParseArgsConfig, parseArgs } from 'node:util'
import { printableLines } from './printable.ts'

/** The user called a tool wrongly. The tool prints the message with its usage, and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A whole number in plain digits; undefined for `10.000`, `1e3` or `0x10`, and for unsafe integers. */
export function wholeNumber(text: string): number | undefined {
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

export const DEFAULT_PORT = 3000
/** The gateway also needs the three ports after PORT. */
const HIGHEST_PORT = 65_532

/** The port of the local gateway's API. Throws `UsageError`. */
export function portFrom(text: string | undefined): number {
  const port = wholeNumber(text || String(DEFAULT_PORT)) ?? -1
  if (port < 0 || port > HIGHEST_PORT) {
    throw new UsageError(`PORT must be a number from 0 to ${HIGHEST_PORT} (0 takes free ports)`)
  }
  return port
}

/** The address of the server that listens `offset` ports after the gateway's API. */
export function addressAt(text: string | undefined, offset = 0): string {
  return `http://127.0.0.1:${portFrom(text) + offset}`
}

/** Whether the command line contains --help or -h. */
export function asksForHelp(argv: readonly string[]): boolean {
  return argv.some((one) => one === '--help' || one === '-h')
}

type Options = NonNullable<ParseArgsConfig['options']>

/** The options of a command line. Throws `UsageError` if one is unknown, has no value, or is given twice. */
export function readOptions<T extends Options>(argv: readonly string[], options: T) {
  return read(argv, options, false).values
}

function read<T extends Options>(argv: readonly string[], options: T, allowPositionals: boolean) {
  const { values, positionals, tokens } = parsed(argv, options, allowPositionals)
  const given = tokens.filter((token) => token.kind === 'option')
  const names = given.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice`)
  // An empty value usually comes from a shell variable that is not set.
  const empty = given.find(({ value }) => value === '')
  if (empty !== undefined) throw new UsageError(`--${empty.name} needs a value`)
  return { values, positionals }
}

function parsed<T extends Options>(argv: readonly string[], options: T, allowPositionals: boolean) {
  try {
    return parseArgs({ args: [...argv], options, tokens: true, allowPositionals })
  } catch (error) {
    // Takes only the first sentence of Node's message. The others are about positional arguments.
    throw new UsageError(
      (error instanceof Error ? error.message : 'called wrongly').replace(/\. [\s\S]*$/, ''),
    )
  }
}

/** The options, and exactly one argument. Throws `UsageError` with the name `wanted` for no or several arguments. */
export function readOptionsOf<T extends Options>(
  wanted: string,
  argv: readonly string[],
  options: T,
) {
  const { values, positionals } = read(argv, options, true)
  const [argument, ...more] = positionals
  if (argument === undefined || argument === '' || more.length > 0)
    throw new UsageError(`give one ${wanted}`)
  return { values, argument }
}

/** Runs a script's work and returns its exit code: 0 after help, 2 with the usage after a `UsageError`. */
export async function runCommand(
  usage: string,
  argv: readonly string[],
  run: (argv: readonly string[]) => Promise<number>,
): Promise<number> {
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
