import { readOptions, UsageError, wholeNumber } from '../../local/terminal/command-line.ts'

export type RedriveCommand = {
  readonly stage: string
  /** Undefined: show them all. */
  readonly queue: string | undefined
  readonly peek: boolean
  readonly purge: boolean
  readonly perSecond: number
  readonly help: boolean
}

/** What SQS moves in a second at most. */
const FASTEST = 500
const DEFAULT_PER_SECOND = 20

export const REDRIVE_HELP = `npm run redrive -- --stage NAME [--queue NAME] [--peek | --purge-confirmed] [--per-second N]

Without --queue: every dead-letter queue and how many messages wait in it.
With one: moves its messages back to the queue they came from and follows until it is done.
  --peek               show a few messages' ids, and delete nothing
  --purge-confirmed    delete what has no queue to go back to (stream records, failed invocations); you looked first
  --per-second N       messages a second, 1 to ${FASTEST}; ${DEFAULT_PER_SECOND} when not given
  --help, -h           this text
Exit code: 0 done, 1 not done, 2 called wrongly.`

const OPTIONS = {
  stage: { type: 'string' },
  queue: { type: 'string' },
  peek: { type: 'boolean' },
  'purge-confirmed': { type: 'boolean' },
  'per-second': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Throws `UsageError`. */
export const parseRedriveCommand = (argv: readonly string[]): RedriveCommand => {
  const values = readOptions(argv, OPTIONS)
  const { stage = '', queue, peek = false, help = false } = values
  const purge = values['purge-confirmed'] ?? false
  const perSecond = wholeNumber(values['per-second'] ?? String(DEFAULT_PER_SECOND)) ?? Number.NaN
  const command: RedriveCommand = { stage, queue, peek, purge, perSecond, help }
  const mistake = help ? undefined : mistakeIn(command)
  if (mistake !== undefined) throw new UsageError(mistake)
  return command
}

const mistakeIn = ({ stage, queue, peek, purge, perSecond }: RedriveCommand): string | undefined => {
  if (stage === '') return 'name the stage with --stage NAME'
  const isSpeed = Number.isInteger(perSecond) && perSecond >= 1 && perSecond <= FASTEST
  if (!isSpeed) return `--per-second must be a whole number from 1 to ${FASTEST}`
  if (peek && purge) return 'give --peek or --purge-confirmed, not both'
  return purge && queue === undefined ? '--purge-confirmed needs --queue NAME' : undefined
}
