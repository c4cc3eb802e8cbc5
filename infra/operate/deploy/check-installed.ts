import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type Finding, ok, wrong } from '../check/finding.ts'

const Lock = v.object({
  packages: v.record(
    v.string(),
    v.object({
      version: v.optional(v.string()),
      optional: v.optional(v.boolean()),
      devOptional: v.optional(v.boolean()),
      peer: v.optional(v.boolean()),
    }),
  ),
})

const readLock = (path: string) => v.parse(Lock, JSON.parse(readFileSync(path, 'utf8'))).packages

/** Whether what will be bundled and deployed is what the lock file says, to the version. */
export const checkInstalled = (root: string): Finding => {
  const what = 'packages'
  const todo = 'npm ci'
  let installed: ReturnType<typeof readLock>
  try {
    installed = readLock(join(root, 'node_modules/.package-lock.json'))
  } catch {
    return wrong(what, 'not installed', todo)
  }
  const locked = readLock(join(root, 'package-lock.json'))
  const different = Object.entries(locked).filter(([path, { version, optional, devOptional, peer }]) => {
    const found = installed[path]?.version
    // A package for another platform is in the lock file only; nothing else may be missing.
    if (found === undefined && (optional || devOptional || peer)) return false
    return path !== '' && found !== version
  })
  const [first] = different
  return first === undefined
    ? ok(what, 'as the lock file says')
    : wrong(what, `${different.length} differ from the lock file, ${first[0]} among them`, todo)
}
