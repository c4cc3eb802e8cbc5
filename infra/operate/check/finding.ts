import { printableLine } from '../../local/terminal/printable.ts'

export type Finding = {
  readonly what: string
  /** `unclear`: the check was not possible. */
  readonly state: 'ok' | 'wrong' | 'unclear'
  readonly detail: string
  readonly todo?: string
}

export function ok(what: string, detail: string): Finding {
  return { what, state: 'ok', detail }
}

export function wrong(what: string, detail: string, todo: string): Finding {
  return { what, state: 'wrong', detail, todo }
}

export function findingsOrOk(findings: readonly Finding[], what: string, detail: string) {
  return findings.length > 0 ? findings : [ok(what, detail)]
}

/** Each finding's remedy is on the next line. `words`: the tool's names of the states. */
export function renderFindings(
  findings: readonly Finding[],
  words: Readonly<Record<Finding['state'], string>>,
) {
  const width = Math.max(...Object.values(words).map((word) => word.length))
  return findings
    .flatMap(({ what, state, detail, todo }) => [
      `${words[state].padEnd(width)}  ${printableLine(`${what}: ${detail}`)}`,
      ...(todo === undefined ? [] : [`${' '.repeat(width)}    -> ${printableLine(todo)}`]),
    ])
    .join('\n')
}

/** Remedies name the stage as STAGE; with its name, a person can paste them. */
export function forStage(findings: readonly Finding[], name: string): readonly Finding[] {
  return findings.map(({ todo, ...finding }) => ({
    ...finding,
    ...(todo !== undefined && { todo: todo.replaceAll(/\bSTAGE\b/g, name) }),
  }))
}

export function hasWrong(findings: readonly Finding[]) {
  return findings.some(({ state }) => state === 'wrong')
}

/** An error's message is never shown, because it may quote a secret or a body. */
export function errorName(error: unknown) {
  if (!(error instanceof Error)) return 'unknown error'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  // Node throws an AggregateError for a host with two addresses.
  return /^(Aggregate)?Error$/.test(error.name) ? code : error.name
}

export function connectionError(error: unknown) {
  return errorName((error instanceof Error && error.cause) || error)
}

/** By the name that AWS gives the error. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /AccessDenied|NotAuthorized|AuthorizationError|UnauthorizedOperation/,
    'use credentials that may read this',
  ],
  [
    /Credentials|ExpiredToken|InvalidClientTokenId|UnrecognizedClient|SSOToken/,
    'aws sso login, or set AWS_PROFILE',
  ],
  [/NotFound/, 'check AWS_REGION, AWS_PROFILE and the name: it is not there'],
  [/Throttl|TooManyRequests/, 'wait a moment and try again'],
  [
    /Timeout|ETIMEDOUT|ECONN|E(NET|HOST)UNREACH|ENOTFOUND|EAI_AGAIN|NetworkingError/,
    'check the network, then try again',
  ],
  [/^InvalidRestoreTime/, 'give a time of the last 35 days, five minutes ago or earlier'],
  [/^ENOENT$/, 'install openssl'],
]

export function remedyFor(error: unknown) {
  const action = refusedAction(error)
  if (action !== undefined) return `use credentials that may do ${action}`
  return REMEDIES.find(([pattern]) => pattern.test(errorName(error)))?.[1] ?? 'try again'
}

/** No other part of AWS's message is shown. */
function refusedAction(error: unknown) {
  return /not authorized to perform:? ([a-z0-9-]+:[A-Za-z]+)/.exec(
    error instanceof Error ? error.message : '',
  )?.[1]
}

export function unclear(what: string, detail: string, todo: string): Finding {
  return { what, state: 'unclear', detail, todo }
}

/** An error of the check becomes a finding, and stops no other check. */
export async function runCheck(
  what: string,
  check: () => Promise<Finding | readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    const result = await check()
    return 'what' in result ? [result] : result
  } catch (error) {
    return [unclear(what, errorName(error), remedyFor(error))]
  }
}

/** Undefined if AWS answers an error of these names, which mean that the item does not exist. */
export async function unlessAbsent<T>(names: readonly string[], ask: Promise<T>) {
  try {
    return await ask
  } catch (error) {
    if (names.includes(errorName(error))) return undefined
    throw error
  }
}
