import * as v from 'valibot'

/** The lines that are shown for a payment, and of warnings and errors. */
const SHOWN = 5

const LineSchema = v.pipe(
  v.string(),
  v.startsWith('{'),
  v.parseJson(),
  v.object({ level: v.string(), message: v.string() }),
)

/**
 * What the log of the emulator says about a step that failed: the last lines of each payment, and
 * the last warnings and errors of any function.
 */
export function linesAbout(log: string, payments: readonly string[]): readonly string[] {
  const lines = log.split('\n').filter((line) => v.is(LineSchema, line))
  const groups = payments.map(
    (id) => [`payment ${id}`, lines.filter((line) => line.includes(id))] as const,
  )
  const bad = lines.filter((line) => /"level":"(WARN|ERROR)"/.test(line))
  return [...groups, ['warnings and errors', bad] as const].flatMap(([what, found]) => [
    `          ${what}: ${found.length} log lines`,
    ...found.slice(-SHOWN).map((line) => `            ${line}`),
  ])
}
