import { describe, expect, it } from 'vitest'
import { NODE_MAJOR } from '../../infra/stack/functions/node-major.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { matchesIn } from '../support/document-blocks.ts'
import { projectText } from '../support/source-file.ts'

const VERSION = projectText('.nvmrc').trim()
const MAJOR = VERSION.split('.')[0]

describe('the version of Node in .nvmrc', () => {
  it('is installed on more platforms than any other version, and CONTRIBUTING.md names the other versions', () => {
    const versions = Object.values(packageJson.optionalDependencies)
    const [, setUp = ''] = projectText('CONTRIBUTING.md').split(/^## /m)

    const countOf = (version: string) =>
      versions.filter((installed) => installed === version).length
    const otherVersions = [...new Set(versions)].filter((version) => version !== VERSION)
    expect(otherVersions.filter((version) => countOf(version) >= countOf(VERSION))).toStrictEqual(
      [],
    )
    expect(new Set(matchesIn(setUp, /\b(\d+\.\d+\.\d+)\b/g))).toStrictEqual(new Set(versions))
  })

  it('has the major version of every platform, of every Lambda function, of its bundles and of the types', () => {
    const template = projectText('test/infra/templates/prod.txt')
    const runtimes = matchesIn(template, /"Runtime":"([^"]+)"/g)
    const platforms = Object.values(packageJson.optionalDependencies)

    expect(new Set(runtimes)).toStrictEqual(new Set([`nodejs${MAJOR}.x`]))
    expect(String(NODE_MAJOR)).toBe(MAJOR)
    expect(platforms.map((version) => version.split('.')[0])).toStrictEqual(Array(5).fill(MAJOR))

    expect(packageJson.devDependencies['@types/node'].split('.')[0]).toBe(MAJOR)
  })
})

describe('the dev container', () => {
  const container = JSON.parse(projectText('.devcontainer/devcontainer.json'))

  it('has the Node of .nvmrc and the Java of CI', () => {
    const [java] = matchesIn(projectText('.github/workflows/ci.yml'), /java-version: (\d+)/g)

    expect(container.features).toStrictEqual({
      'ghcr.io/devcontainers/features/node:1': { version: VERSION },
      'ghcr.io/devcontainers/features/java:1': { version: java },
    })
  })

  it('runs the installation of both commands in the README, and forwards the ports of the first command', () => {
    const readme = projectText('README.md')
    const installations = matchesIn(readme, /^(npm \w+) && npm (?:start|test) /gm)
    const [first] = matchesIn(readme, /^`PORT` \((\d+)\)/gm)
    const offsets = matchesIn(readme, /^\| PORT(\+\d)? \|/gm)
    const ports = offsets.map((offset) => Number(first) + Number(offset))

    expect(installations).toStrictEqual([container.postCreateCommand, container.postCreateCommand])
    expect(container.forwardPorts).toStrictEqual(ports)
    expect(Object.keys(container.portsAttributes)).toStrictEqual(ports.map(String))
  })
})
