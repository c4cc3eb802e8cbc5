import { toItem } from '../../../shared/table/attributes.ts'
import type { Key } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'

export type RawRow = Readonly<Record<string, unknown>>

/** Rows as a person with access to the table reads and writes them, past every condition. */
export const rawRows = async (deps: TestDeps) => ({
  read: (key: Key): Promise<RawRow> => rawItem(deps, key),
  write: async (row: RawRow): Promise<void> => void (await putRaw(deps, row)),
  remove: async (key: Key): Promise<void> => void (await deps.table.write(remove(key, exists))),
  partition: async (pk: string): Promise<readonly RawRow[]> =>
    (await deps.table.query({ partition: [pk], limit: 100 })).items.map(toItem),
})
