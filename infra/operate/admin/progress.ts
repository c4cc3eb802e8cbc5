import type { Output } from '../../local/terminal/printable.ts'

const EVERY_MS = 2_000

export type Progress = { readonly say: (text: string) => void; readonly end: () => void }

/** Says on the error output, every two seconds, how far a command is; the same text once. */
export function startProgress({ err }: Pick<Output, 'err'>, begun: string): Progress {
  let text = begun
  let said = ''
  const timer = setInterval(() => {
    if (text !== said) err(text)
    said = text
  }, EVERY_MS)
  return { say: (now) => void (text = now), end: () => clearInterval(timer) }
}
