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
export const wrong = (what: string, detail: string, todo: string): Finding => ({ what, state: 'wrong', detail, todo })
export const unclear = (what: string, detail: string, todo: string): Finding => ({
  what,
  state: 'unclear',
  detail,
  todo,
})

/** How a tool calls the three states. */
export type StateWords = Readonly<Record<Finding['state'], string>>

/** One finding a line, what to do about it below; states under one another. */
export const renderFindings = (findings: readonly Finding[], words: StateWords): string => {
  const width = Math.max(...Object.values(words).map((word) => word.length))
  return findings
    .flatMap(({ what, state, detail, todo }) => [
      `${words[state].padEnd(width)}  ${printable(`${what}: ${detail}`)}`,
      ...(todo === undefined ? [] : [`${' '.repeat(width)}    -> ${printable(todo)}`]),
    ])
    .join('\n')
}

export const hasWrong = (findings: readonly Finding[]): boolean => findings.some(({ state }) => state === 'wrong')
