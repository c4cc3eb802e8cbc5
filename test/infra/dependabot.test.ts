import { parseYaml } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { projectText } from '../support/source-file.ts'

const { dependencies, devDependencies, optionalDependencies } = packageJson
const PACKAGES = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })

type Group = { readonly patterns: readonly string[]; readonly 'dependency-type'?: string }
type Ignored = {
  readonly 'dependency-name': string
  readonly versions?: readonly string[]
  readonly 'update-types'?: readonly string[]
}
type Update = {
  readonly 'package-ecosystem': string
  readonly schedule: { readonly interval: string }
  readonly groups: Readonly<Record<string, Group>>
  readonly ignore?: readonly Ignored[]
}
type Settings = { readonly updates: readonly Update[] }

/** In a pattern, a star at the end stands for any text. */
function isNamed(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const [start = '', rest] = pattern.split('*')
    return rest === undefined ? name === pattern : name.startsWith(start)
  })
}

function isInGroup(name: string, { patterns, 'dependency-type': type }: Group): boolean {
  const isOfType = type === undefined || name in devDependencies
  return isOfType && isNamed(name, patterns)
}

describe('.github/dependabot.yml', () => {
  const { updates } = parseYaml(projectText('.github/dependabot.yml')) as Settings
  const npm = updates.find((update) => update['package-ecosystem'] === 'npm')
  const groups = Object.values(npm?.groups ?? {})
  const ignored = npm?.ignore ?? []

  it('proposes packages and actions weekly', () => {
    const proposed = updates.map((one) => [one['package-ecosystem'], one.schedule.interval])

    expect(proposed).toStrictEqual([
      ['npm', 'weekly'],
      ['github-actions', 'weekly'],
    ])
  })

  it('names only packages of package.json', () => {
    const patterns = groups.flatMap((group) => group.patterns)
    const named = [...patterns, ...ignored.map((one) => one['dependency-name'])]
    const unknown = named.filter((pattern) => !PACKAGES.some((name) => isNamed(name, [pattern])))

    expect(named.length).toBeGreaterThan(5)
    expect(unknown).toStrictEqual([])
  })

  it('leaves only the packages that the functions run without a group, and those changed by hand', () => {
    const byHand = ignored.filter((one) => !one.versions && !one['update-types'])
    const names = byHand.map((one) => one['dependency-name'])
    const alone = PACKAGES.filter((name) => !groups.some((group) => isInGroup(name, group)))

    const own = Object.keys(dependencies).filter((name) => !name.startsWith('@aws-sdk/'))
    expect(names).toStrictEqual(['node-*'])
    expect(alone).toStrictEqual([...own, ...Object.keys(optionalDependencies)])
  })

  it('never proposes the CDK that was published by accident', () => {
    const refused = ignored.find((one) => one['dependency-name'] === 'aws-cdk')

    expect(refused?.versions).toStrictEqual(['3.0.0'])
  })
})
