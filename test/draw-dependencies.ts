import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runCommand } from '../infra/local/terminal/command-line.ts'
import { dependencyPicture, withPicture } from './dependency-picture.ts'
import { PROJECT_ROOT, sourcesIn } from './support/source-file.ts'

const DOCUMENT = join(PROJECT_ROOT, 'docs/dependencies.md')

const HELP = `npm run picture [-- --write]

Reads the imports of shared, functions and infra, and prints which folder uses which.
  --write      puts it into docs/dependencies.md
  --help, -h   this text
Exit code: 0 done, 2 called wrongly.`

process.exitCode = await runCommand(HELP, process.argv.slice(2), async (argv) => {
  const { write } = readOptions(argv, { write: { type: 'boolean' } } as const)
  const picture = dependencyPicture(sourcesIn('shared', 'functions', 'infra'))
  if (write) writeFileSync(DOCUMENT, withPicture(readFileSync(DOCUMENT, 'utf8'), picture))
  else console.log(picture)
  return 0
})
