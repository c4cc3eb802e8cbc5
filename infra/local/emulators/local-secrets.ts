import * as v from 'valibot'
import type { Secrets } from '../../../shared/secrets.ts'
import { readJsonFile, writeJsonFile } from '../process/json-file.ts'

/** Secrets Manager in a file only its owner may read, or in memory alone. A created secret outlives the process. */
export const localSecrets = (file?: string): Secrets => {
  const stored = file === undefined ? undefined : readJsonFile(file, v.record(v.string(), v.string()))
  const values = new Map(Object.entries(stored ?? {}))

  const save = () => {
    if (file !== undefined) writeJsonFile(file, Object.fromEntries(values))
  }

  return {
    get: async (name) => values.get(name),
    create: async (name, value) => {
      if (values.has(name)) throw new Error('a secret of this name exists already')
      values.set(name, value)
      save()
    },
    remove: async (name) => {
      if (values.delete(name)) save()
    },
  }
}
