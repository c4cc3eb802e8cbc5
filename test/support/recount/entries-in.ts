import type { Client } from '../../../shared/client/client.ts'
import type { Entry } from '../../../shared/journal/entry.ts'
import { entryPages } from '../../../shared/journal/read-entries.ts'
import { readParts } from '../../../shared/ledger/window-store.ts'
import { timestampOf } from '../../../shared/time.ts'
import type { TestDeps } from '../test-deps.ts'

/** All entries of a client, in the order of the journal. */
export const entriesIn = async (deps: TestDeps, { clientId }: Pick<Client, 'clientId'>): Promise<readonly Entry[]> => {
  const span = { start: timestampOf(0), end: timestampOf(Date.UTC(2100, 0)) }
  const range = { clientId, parts: await readParts(deps, clientId), span }
  return (await Array.fromAsync(entryPages(deps, range))).flatMap(({ entries }) => entries)
}
