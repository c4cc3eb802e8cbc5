import { parseArgs } from 'node:util'

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
Exit code: 0 done, 1 not done, 2 called wrongly.`

/** Undefined when it was called wrongly. */
export const parseRedriveCommand = (argv: readonly string[]): RedriveCommand | undefined => {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        stage: { type: 'string' },
        queue: { type: 'string' },
        peek: { type: 'boolean' },
        'purge-confirmed': { type: 'boolean' },
        'per-second': { type: 'string' },
        help: { type: 'boolean' },
      },
    })
    const { stage = '', queue, peek = false, help = false } = values
    const purge = values['purge-confirmed'] ?? false
    const perSecond = Number(values['per-second'] ?? DEFAULT_PER_SECOND)
    const isSpeed = Number.isInteger(perSecond) && perSecond >= 1 && perSecond <= FASTEST
    if (!help && (stage === '' || !isSpeed || (peek && purge) || (purge && queue === undefined))) return undefined
    return { stage, queue, peek, purge, perSecond, help }
  } catch {
    return undefined
  }
}
