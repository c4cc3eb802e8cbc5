import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { expect, type Rehearsal, STAGE } from './rehearsal.ts'

export function releaseOf(
  rehearsal: Pick<Rehearsal, 'directory'>,
  name: string,
  { table = {}, ...others }: { readonly [setting: string]: unknown; readonly table?: object },
): string {
  return releaseWith(rehearsal, name, `infra/stages/${STAGE}.json`, (text) => {
    const settings = v.parse(v.looseObject({ table: v.looseObject({}) }), JSON.parse(text))
    return JSON.stringify({ ...settings, ...others, table: { ...settings.table, ...table } })
  })
}

export function releaseWith(
  { directory }: Pick<Rehearsal, 'directory'>,
  name: string,
  file: string,
  change: (text: string) => string,
): string {
  const release = join(directory, name)
  mkdirSync(release)
  const files = ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json']
  for (const one of ['functions', 'infra', 'shared', ...files])
    cpSync(join(PROJECT_ROOT, one), join(release, one), { recursive: true })
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(release, 'node_modules'))
  const text = readFileSync(join(release, file), 'utf8')
  const changed = change(text)
  expect(changed !== text, `${file} has nothing to change`)
  writeFileSync(join(release, file), changed)
  return release
}
