import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runCommand } from '../infra/local/terminal/command-line.ts'
import { withWritten } from '../infra/local/terminal/with-written.ts'
import { deployedStage } from '../infra/stack/stage.ts'
import { dependencyPicture } from './dependency-picture.ts'
import { registryTable } from './registry-table.ts'
import { runbookEntries } from './runbook-entries.ts'
import { specTable } from './spec-table.ts'
import { PROJECT_ROOT, projectText, sourcesIn } from './support/source-file.ts'
import { watchedFrontIn, watchedIn } from './support/stack-template.ts'

const RUNBOOK = 'docs/runbook.md'

const PARTS = {
  picture: {
    does: 'Reads the imports of shared, functions and infra, and prints which folder uses which.',
    document: 'docs/dependencies.md',
    compute: () => dependencyPicture(sourcesIn('shared', 'functions', 'infra')),
  },
  runbook: {
    does:
      'Prints the entries of the runbook: when each alarm goes off, by the table that makes it, ' +
      'above what a person wrote.',
    document: RUNBOOK,
    compute: () =>
      runbookEntries(
        watchedIn('prod'),
        watchedFrontIn(deployedStage('prod')),
        projectText(RUNBOOK),
      ),
  },
  registry: {
    does:
      'Prints what determines each stored attribute, and what no audit can see. The document has ' +
      'the facts, which no row determines.',
    document: 'docs/reliability.md',
    compute: (written: boolean) => registryTable(written ? ['fact'] : undefined),
  },
  'spec-rows': {
    does:
      'Prints each row of the specification, with the title of the test that holds it or the ' +
      'departure. The document has the files of these tests, without the titles.',
    document: 'docs/spec.md',
    compute: (written: boolean) => specTable(!written),
  },
} as const

const [script, ...argv] = process.argv.slice(2) as [keyof typeof PARTS, ...string[]]
const { does, document, compute } = PARTS[script]

const HELP = `npm run ${script} [-- --write]

${does}
  --write      puts it into ${document} instead
  --help, -h   this text
Exit code: 0 done, 2 wrong arguments.`

process.exitCode = await runCommand(HELP, argv, async () => {
  const { write } = readOptions(argv, { write: { type: 'boolean' } })
  const path = join(PROJECT_ROOT, document)
  if (write) writeFileSync(path, withWritten(readFileSync(path, 'utf8'), script, compute(true)))
  else console.log(compute(false))
  return 0
})
