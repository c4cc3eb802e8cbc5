import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type Finding, ok, wrong } from '../check/finding.ts'

const MAY_BE_MISSING = ['optional', 'devOptional', 'peer'] as const
const Package = v.looseObject({ version: v.optional(v.string()) })
const Lock = v.object({ packages: v.record(v.string(), Package) })

const packagesIn = (path: string) => v.parse(Lock, JSON.parse(readFileSync(path, 'utf8'))).packages

/** Whether what will be bundled and deployed is what the lock file says, to the version. */
export const checkInstalled = (root: string): Finding => {
  let installed: ReturnType<typeof packagesIn>
  try {
    installed = packagesIn(join(root, 'node_modules/.package-lock.json'))
  } catch {
    return wrong('packages', 'not installed', 'npm ci')
  }
  const [first, ...others] = Object.entries(packagesIn(join(root, 'package-lock.json'))).filter(([path, locked]) => {
    const found = installed[path]?.version
    // A package for another platform is in the lock file only; nothing else may be missing.
    if (found === undefined && MAY_BE_MISSING.some((kind) => locked[kind])) return false
    return path !== '' && found !== locked.version
  })
  if (first === undefined) return ok('packages', 'as the lock file says')
  return wrong('packages', `${1 + others.length} differ from the lock file, ${first[0]} among them`, 'npm ci')
}
