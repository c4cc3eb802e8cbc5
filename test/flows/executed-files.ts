import { type Profiler, Session } from 'node:inspector/promises'
import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PROJECT_ROOT, projectText } from '../support/source-file.ts'

// From the start of the process: code that V8 is optimizing while the coverage starts does not
// count the functions it has inlined.
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

export type ExecutedFile = { readonly path: string; readonly lines: number }

/**
 * Runs something once under V8's precise coverage. Answers the files of `functions/` and `shared/`
 * of which a function ran. Call it in a process of plain Node: there the offsets of V8 are those of
 * the source, because Node replaces each type by spaces.
 */
export async function executedFiles(run: () => Promise<unknown>) {
  return (await coverageOf(run)).flatMap(({ url, functions }) => {
    const path = url.startsWith('file:')
      ? relative(PROJECT_ROOT, fileURLToPath(url)).replaceAll(sep, '/')
      : ''
    if (!/^(functions\/[^/]+|shared)\//.test(path)) return []
    const lines = executedLines(projectText(path), functions).length
    return lines > 0 ? [{ path, lines }] : []
  })
}

async function coverageOf(run: () => Promise<unknown>) {
  await takeCoverage()
  await run()
  return await takeCoverage()
}

/** What ran since the last call. */
async function takeCoverage() {
  return (await session.post('Profiler.takePreciseCoverage')).result
}

/**
 * The numbers of the lines with text of a function that ran. An inner function counts only if it
 * ran itself. The module is no function: its own code runs when it is loaded, before any flow.
 */
function executedLines(
  text: string,
  functions: readonly Pick<Profiler.FunctionCoverage, 'ranges'>[],
) {
  const whole = functions.flatMap(({ ranges }) => ranges.slice(0, 1))
  const outerFirst = whole.toSorted(
    (a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset,
  )
  const hasRun = new Uint8Array(text.length)
  for (const { startOffset, endOffset, count } of outerFirst) {
    const isModule = startOffset === 0 && endOffset >= text.length
    hasRun.fill(isModule || count === 0 ? 0 : 1, startOffset, endOffset)
  }
  const lines = new Set<number>()
  let line = 1
  for (const [at, ran] of hasRun.entries()) {
    if (text[at] === '\n') line++
    else if (ran === 1 && text[at] !== ' ') lines.add(line)
  }
  return [...lines]
}
