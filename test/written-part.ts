import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runCommand } from '../infra/local/terminal/command-line.ts'
import { withWritten } from '../infra/local/terminal/with-written.ts'
import { PROJECT_ROOT } from './support/source-file.ts'

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
