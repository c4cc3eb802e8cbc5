import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runCommand } from '../infra/local/terminal/command-line.ts'
import { PROJECT_ROOT } from './support/source-file.ts'

const END = '<!-- end of what is written -->'

/**
 * A document with what `npm run <script> -- [<suite>] --write` puts there in its place, up to the next end. Throws when it
 * has no place for it.
 */
export const withWritten = (document: string, script: string, text: string, suite?: string): string => {
  const begin = `<!-- written by \`npm run ${[script, '--', ...(suite === undefined ? [] : [suite]), '--write'].join(' ')}\` -->`
  const from = document.indexOf(begin)
  const to = document.indexOf(END, from)
  if (from < 0 || to < from) throw new Error(`the document has no place for what ${script} writes`)
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`
}

type Part = { readonly script: string; readonly does: string; readonly document: string }

/** The command line of a script that computes a part of a document: prints it, or puts it where it belongs. */
export const writePart = async ({ script, does, document }: Part, compute: () => Promise<string>): Promise<void> => {
  const help = `npm run ${script} [-- --write]

${does}
  --write      puts it into ${document} instead
  --help, -h   this text
Exit code: 0 done, 2 called wrongly.`
  process.exitCode = await runCommand(help, process.argv.slice(2), async (argv) => {
    const { write } = readOptions(argv, { write: { type: 'boolean' } } as const)
    const [path, text] = [join(PROJECT_ROOT, document), await compute()]
    if (write) writeFileSync(path, withWritten(readFileSync(path, 'utf8'), script, text))
    else console.log(text)
    return 0
  })
}
