import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import type { Placed } from './place-mutant.ts'

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

/** The project in a temporary directory, so that breaking it touches nobody's work. */
export type ProjectCopy = {
  readonly directory: string
  /** Breaks the copy, for good. */
  place(placed: Placed): void
  /** Breaks the copy, runs, and mends it again. */
  withMutant<T>(placed: Placed, run: () => Promise<T>): Promise<T>
  remove(): void
}

export const copyProject = (): ProjectCopy => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-mutants-'))
  for (const name of COPIED) cpSync(join(PROJECT_ROOT, name), join(directory, name), { recursive: true })
  // Package by package, so that what tools write beside the packages lands in the copy.
  const packages = join(PROJECT_ROOT, 'node_modules')
  mkdirSync(join(directory, 'node_modules'))
  for (const name of readdirSync(packages).filter((entry) => !entry.startsWith('.') || entry === '.bin')) {
    symlinkSync(join(packages, name), join(directory, 'node_modules', name))
  }
  const place = ({ path, mutated }: Placed) => writeFileSync(join(directory, path), mutated)
  return {
    directory,
    place,
    withMutant: async (placed, run) => {
      place(placed)
      try {
        return await run()
      } finally {
        place({ ...placed, mutated: placed.original })
      }
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
