import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../support/source-file.ts'

const COPIED = [
  'functions',
  'infra',
  'shared',
  'test',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vitest.config.ts',
]

/** The project in a temporary directory, so that breaking it changes no file of the tree. */
export const copyProject = (): { readonly directory: string; readonly remove: () => void } => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-copy-'))
  for (const name of COPIED) cpSync(join(PROJECT_ROOT, name), join(directory, name), { recursive: true })
  // Package by package, so that what tools write beside the packages lands in the copy.
  const packages = join(PROJECT_ROOT, 'node_modules')
  mkdirSync(join(directory, 'node_modules'))
  for (const name of readdirSync(packages).filter((entry) => !entry.startsWith('.') || entry === '.bin')) {
    symlinkSync(join(packages, name), join(directory, 'node_modules', name))
  }
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
