import { runbookEntries } from './runbook-entries.ts'
import { projectText } from './support/source-file.ts'
import { watchedIn } from './support/stack-template.ts'
import { writePart } from './written-part.ts'

const RUNBOOK = {
  script: 'runbook',
  does: 'Prints the entries of the runbook: when each alarm goes off, by the table that makes it, above what a person wrote.',
  document: 'docs/runbook.md',
}

await writePart(RUNBOOK, async () => runbookEntries(watchedIn('prod'), projectText(RUNBOOK.document)))
