import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { expect, type Rehearsal, STAGE } from './rehearsal.ts'

const STAGE_FILE = `infra/stages/${STAGE}.json`
const StageFile = v.looseObject({ table: v.looseObject({}) })

/**
 * The settings of `prod` that the emulator cannot take, and those that would keep the stage. All
 * else is rehearsed as `prod` has it: the stage's key, reservations, aliases, trail, alarms.
 */
const NOT_AS_PROD = {
  location: undefined,
  domain: undefined,
  front: 'none',
  copies: undefined,
  monthlyBudgetUsd: undefined,
  // CodeDeploy shifts the traffic of a canary.
  deployment: 'alias-only',
  removalPolicy: 'destroy',
  deletionProtection: false,
  alarmRecipients: ['alarms@gateway.example'],
}

/** The first release: the present code, for a stage with what `prod` has. */
export function firstRelease(directory: string) {
  return makeRelease(directory, 'first-release')
}

export function releaseOf(
  rehearsal: Pick<Rehearsal, 'directory'>,
  name: string,
  { table = {}, ...others }: { readonly [setting: string]: unknown; readonly table?: object },
) {
  return releaseWith(rehearsal, name, STAGE_FILE, (text) => {
    const settings = v.parse(StageFile, JSON.parse(text))
    return JSON.stringify({ ...settings, ...others, table: { ...settings.table, ...table } })
  })
}

export function releaseWith(
  { directory }: Pick<Rehearsal, 'directory'>,
  name: string,
  file: string,
  change: (text: string) => string,
) {
  const release = makeRelease(directory, name)
  const text = readFileSync(join(release, file), 'utf8')
  const changed = change(text)
  expect(changed !== text, `${file} has nothing to change`)
  writeFileSync(join(release, file), changed)
  return release
}

function makeRelease(directory: string, name: string) {
  const release = join(directory, name)
  mkdirSync(release)
  const files = ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json']
  for (const one of ['functions', 'infra', 'shared', ...files])
    cpSync(join(PROJECT_ROOT, one), join(release, one), { recursive: true })
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(release, 'node_modules'))
  const prod = v.parse(
    StageFile,
    JSON.parse(readFileSync(join(release, 'infra/stages/prod.json'), 'utf8')),
  )
  writeFileSync(join(release, STAGE_FILE), JSON.stringify({ ...prod, ...NOT_AS_PROD }))
  return release
}
