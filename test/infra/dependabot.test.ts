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
  readonly groups: Readonly<Record<string, Group>>
  readonly ignore?: readonly Ignored[]
}
type Settings = { readonly updates: readonly Update[] }

/** In a pattern, a star at the end stands for any text. */
function isNamed(name: string, patterns: readonly string[]) {
  return patterns.some((pattern) => {
    const [start = '', rest] = pattern.split('*')
    return rest === undefined ? name === pattern : name.startsWith(start)
  })
}

function isInGroup(name: string, { patterns, 'dependency-type': type }: Group) {
  const isOfType = type === undefined || name in devDependencies
  return isOfType && isNamed(name, patterns)
}

describe('.github/dependabot.yml', () => {
  const { updates } = parseYaml(projectText('.github/dependabot.yml')) as Settings
  const npm = updates.find((update) => update['package-ecosystem'] === 'npm')
  const groups = Object.values(npm?.groups ?? {})
  const ignored = npm?.ignore ?? []

  it('names only packages of package.json', () => {
    const patterns = groups.flatMap((group) => group.patterns)
    const names = [...patterns, ...ignored.map((entry) => entry['dependency-name'])]
    const unknownNames = names.filter(
      (pattern) => !PACKAGES.some((name) => isNamed(name, [pattern])),
    )

    expect(names.length).toBeGreaterThan(5)
    expect(unknownNames).toStrictEqual([])
  })

  it('groups all packages, except those that the functions run and those that are changed by hand', () => {
    const byHand = ignored.filter((entry) => !entry.versions && !entry['update-types'])
    const names = byHand.map((entry) => entry['dependency-name'])
    const ungrouped = PACKAGES.filter((name) => !groups.some((group) => isInGroup(name, group)))

    const ownPackages = Object.keys(dependencies).filter((name) => !name.startsWith('@aws-sdk/'))
    expect(names).toStrictEqual(['node-*'])
    expect(ungrouped).toStrictEqual([...ownPackages, ...Object.keys(optionalDependencies)])
  })
})
