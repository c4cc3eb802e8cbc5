import { runbookEntries } from './runbook-entries.ts'
import { watchedIn } from './support/stack-template.ts'
import { writePart } from './written-part.ts'

const RUNBOOK = {
  script: 'runbook',
  does: 'Prints the entries of the runbook, one for each alarm, from the table that makes the alarms.',
  document: 'docs/runbook.md',
}

await writePart(RUNBOOK, async () => runbookEntries(watchedIn('prod')))
