import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import type { Item } from '../table/attributes.ts'
import { foundKey, type Key } from '../table/keys.ts'
import { queryPages } from '../table/query-pages.ts'

/** Items read side by side; with their events they are what an audit holds in memory at a time. */
const PAGE = 500

export type OwnedItem = {
  /** As the index has it. */
  readonly key: Key
  /** As the table has it now; undefined when it is gone. */
  readonly item: Item | undefined
}

/**
 * Everything a client owns of one kind, oldest first, page by page: memory does not grow with their number. Items come
 * raw, since an audit must be able to speak about one that nobody could read.
 */
export const ownedItems = async function* (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  entity: 'payment' | 'settlement',
): AsyncGenerator<readonly OwnedItem[]> {
  for await (const page of queryPages(deps, { index: 'by-owner', partition: [clientId, entity], limit: PAGE })) {
    const keys = page.map((item) => (entity === 'payment' ? foundKey('PAYMENT', item) : foundKey('SETTLEMENT', item)))
    const items = await deps.table.getMany(keys)
    yield keys.map((key, at) => ({ key, item: items[at] }))
  }
}
