import * as v from 'valibot'
import type { Deps, StoreDeps, TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { keyUseKey } from '../table/keys.ts'
import { absent, any, below, update } from '../table/step.ts'
import type { ApiKey, KeyId } from './api-key.ts'

const KeyUseSchema = v.object({ lastUsedOn: v.string() })

/** The most keys that an environment remembers. The oldest is dropped first. */
const REMEMBERED = 1_000

declare module '../memory.ts' {
  interface Memory {
    /** The day for which each key's use was noted, or tried to be. */
    keyUses?: Map<KeyId, string>
  }
}

/**
 * Notes, to the day, that a key was used. No request waits for it, and it may be lost. One environment writes a key and
 * day; the others are refused. It has its own row, so that functions that answer merchants cannot write keys.
 */
export const noteKeyUse = (
  deps: StoreDeps & Pick<Deps, 'aside' | 'memory'>,
  clientId: ClientId,
  keyId: KeyId,
): void => {
  if (!deps.aside) return
  const today = deps.now().slice(0, 'YYYY-MM-DD'.length)
  const noted = (deps.memory.keyUses ??= new Map())
  if ((noted.get(keyId) ?? '') >= today) return
  if (noted.size >= REMEMBERED) noted.clear()
  noted.set(keyId, today)
  const isLater = any(absent('lastUsedOn'), below('lastUsedOn', today))
  deps.aside(() => deps.table.write(update(keyUseKey(clientId, keyId), { set: { lastUsedOn: today } }, isLater)))
}

/** When each key was last used, to the day; null when it was not used or the note was lost. */
export const lastUses = async (
  deps: TableDeps,
  keys: readonly Pick<ApiKey, 'clientId' | 'keyId'>[],
): Promise<readonly (string | null)[]> => {
  const rows = await deps.table.getMany(keys.map(({ clientId, keyId }) => keyUseKey(clientId, keyId)))
  return rows.map((row) => (row ? v.parse(KeyUseSchema, row).lastUsedOn : null))
}
