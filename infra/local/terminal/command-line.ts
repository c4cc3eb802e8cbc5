import { readFileSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { printableLines } from './printable.ts'

/** The tool prints the message with its usage, and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Throws `UsageError`. */
export function readNamedFile(path: string) {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new UsageError(`${path} cannot be read`, { cause })
  }
}

/** Undefined for `10.000`, `1e3` or `0x10`, and for unsafe integers. */
export function wholeNumber(text: string) {
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

export const DEFAULT_PORT = 3000
/** The three ports after PORT are used too. */
const HIGHEST_PORT = 65_532

/** Throws `UsageError`. */
export function portFrom(text: string | undefined, least = 0) {
  const port = wholeNumber(text || String(DEFAULT_PORT)) ?? -1
  if (port >= least && port <= HIGHEST_PORT) return port
  const free = least === 0 ? ' (0 takes free ports)' : ''
  throw new UsageError(`PORT must be a number from ${least} to ${HIGHEST_PORT}${free}`)
}

/** The server listens `offset` ports after the gateway's API. */
export function addressAt(text: string | undefined, offset = 0) {
  return `http://127.0.0.1:${portFrom(text, 1) + offset}`
}

export function asksForHelp(argv: readonly string[]) {
  return argv.some((argument) => argument === '--help' || argument === '-h')
}

type Options = NonNullable<ParseArgsConfig['options']>

/** Throws `UsageError` if an option is unknown, has no value, or is given twice. */
export function readOptions<const T extends Options>(argv: readonly string[], options: T) {
  return readArguments(argv, options, false).values
}

function readArguments<T extends Options>(
  argv: readonly string[],
  options: T,
  allowPositionals: boolean,
) {
  const args = [...argv]
  const { values, positionals, tokens } = orUsageError(() =>
    parseArgs({ args, options, tokens: true, allowPositionals }),
  )
  const optionTokens = tokens.filter((token) => token.kind === 'option')
  const names = optionTokens.map(({ name }) => name)
  const repeatedName = names.find((name, at) => names.indexOf(name) < at)
  if (repeatedName !== undefined) throw new UsageError(`--${repeatedName} is given twice`)
  // An empty value usually comes from a shell variable that is not set.
  const emptyOption = optionTokens.find(({ value }) => value === '')
  if (emptyOption !== undefined) throw new UsageError(`--${emptyOption.name} needs a value`)
  return { values, positionals }
}

function orUsageError<T>(parse: () => T) {
  try {
    return parse()
  } catch (error) {
    // Keeps the first sentence of Node's message. Further sentences are about positional arguments.
    throw new UsageError(
      (error instanceof Error ? error.message : 'called wrongly').replace(/\. [\s\S]*$/, ''),
    )
  }
}

/** Throws `UsageError` with `argumentName` for no or several arguments. */
export function readOptionsOf<T extends Options>(
  argumentName: string,
  argv: readonly string[],
  options: T,
) {
  const { values, positionals } = readArguments(argv, options, true)
  const [argument, ...otherArguments] = positionals
  if (argument === undefined || argument === '' || otherArguments.length > 0)
    throw new UsageError(`give one ${argumentName}`)
  return { values, argument }
}

/** The process ends with the code that the command answers. */
export async function runProgram(usage: string, run: Run) {
  process.exitCode = await runCommand(usage, process.argv.slice(2), run)
}

type Run = (argv: readonly string[]) => Promise<number>

/** Answers 0 after help, 2 with the usage after a `UsageError`. */
export async function runCommand(usage: string, argv: readonly string[], run: Run) {
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
