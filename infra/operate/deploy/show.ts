import { printableLines } from '../../local/terminal/printable.ts'
import { type Finding, renderFindings } from '../check/finding.ts'

/** On the terminal, in the words of a deployment. */
export const show = (findings: readonly Finding[]): void => {
  if (findings.length > 0)
    console.log(printableLines(renderFindings(findings, { ok: 'ok', wrong: 'missing', unclear: 'could not look' })))
}
