import { printable } from '../../local/terminal/printable.ts'

/** One line of a preflight or of the doctor. */
export type Finding = {
  readonly what: string
  /** `unclear`: it could not be looked at, which proves nothing either way. */
  readonly state: 'ok' | 'wrong' | 'unclear'
  readonly detail: string
  /** What to do about it. */
  readonly todo?: string
}

export const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail })

const bad =
  (state: 'wrong' | 'unclear') =>
  (what: string, detail: string, todo: string): Finding => ({ what, state, detail, todo })
export const wrong = bad('wrong')
export const unclear = bad('unclear')

/** One finding a line, what to do about it below; states under one another, in the words of the tool. */
export const renderFindings = (
  findings: readonly Finding[],
  words: Readonly<Record<Finding['state'], string>>,
): string => {
  const width = Math.max(...Object.values(words).map((word) => word.length))
  return findings
    .flatMap(({ what, state, detail, todo }) => [
      `${words[state].padEnd(width)}  ${printable(`${what}: ${detail}`)}`,
      ...(todo === undefined ? [] : [`${' '.repeat(width)}    -> ${printable(todo)}`]),
    ])
    .join('\n')
}

export const hasWrong = (findings: readonly Finding[]): boolean => findings.some(({ state }) => state === 'wrong')
