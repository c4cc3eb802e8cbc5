import * as v from 'valibot'
import type { Deps, StoreDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { absent, any, below } from '../table/condition.ts'
import { keyUseKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import type { ApiKey, KeyId } from './api-key.ts'

const KeyUseSchema = v.object({ lastUsedOn: v.string() })

/** The longest a noted day is remembered is until a younger one; so many keys an environment ever serves a day. */
const REMEMBERED = 1_000

// One memory per environment, kept with its table: the day for which it has noted each key's use, or tried to.
const noted = new WeakMap<Deps['table'], Map<KeyId, string>>()

/**
 * Notes beside the request, to the day, that a key was used: nobody waits for it, and it may be lost. Of all
 * environments one writes a key and day: the others are refused. In a row of its own, so that what answers merchants
 * need not be able to write keys.
 */
export const noteKeyUse = (deps: StoreDeps & Pick<Deps, 'aside'>, clientId: ClientId, keyId: KeyId): void => {
  if (!deps.aside) return
  const today = deps.now().slice(0, 'YYYY-MM-DD'.length)
  const memory = noted.get(deps.table) ?? new Map<KeyId, string>()
  noted.set(deps.table, memory)
  if ((memory.get(keyId) ?? '') >= today) return
  if (memory.size >= REMEMBERED) memory.clear()
  memory.set(keyId, today)
  const isLater = any(absent('lastUsedOn'), below('lastUsedOn', today))
  deps.aside(() => deps.table.write(update(keyUseKey(clientId, keyId), { set: { lastUsedOn: today } }, isLater)))
}

/** When each key was used last, to the day; null of one that was not, or whose use was lost. */
export const lastUses = async (
  deps: Pick<Deps, 'table'>,
  keys: readonly Pick<ApiKey, 'clientId' | 'keyId'>[],
): Promise<readonly (string | null)[]> => {
  const rows = await deps.table.getMany(keys.map(({ clientId, keyId }) => keyUseKey(clientId, keyId)))
  return rows.map((row) => (row ? v.parse(KeyUseSchema, row).lastUsedOn : null))
}
