import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SOURCE_MAPS } from '../../infra/stack/project-root.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { PROJECT_ROOT } from '../support/source-file.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { type Ended, runScripts } from './run-scripts.ts'

/** Every script of our own, from the list that npm has. */
const OWN = Object.entries(packageJson.scripts).flatMap(([name, command]) => {
  const [, script = ''] = /(\S+\.ts(?: \w+)?)$/.exec(command) ?? []
  const [file = '', ...argv] = script.split(' ')
  return file === '' ? [] : [{ name, args: [file, ...argv] as const }]
})

describe('the command lines of every script', () => {
  /** By the script's name and the flag. */
  let ended: ReadonlyMap<string, Ended>

  beforeAll(async () => {
    const calls = ['--help', '--no-such-flag'].flatMap((flag) =>
      OWN.map(({ name, args }) => ({ name, args, flag })),
    )
    const all = await runScripts(calls.map(({ args, flag }) => [...args, flag]))
    ended = new Map(all.map((one, at) => [`${calls[at]?.name} ${calls[at]?.flag}`, one]))
  })

  it('are all of them', () => {
    expect(OWN.map(({ name }) => name)).toEqual(
      expect.arrayContaining(
        'start demo admin trace sim mutants bench picture deploy doctor restore'.split(' '),
      ),
    )
  })

  it.each(OWN)(
    'npm run $name says with --help what it does and how it ends, and refuses in words what it does not know',
    ({ name }) => {
      const help = ended.get(`${name} --help`)
      const refused = ended.get(`${name} --no-such-flag`)

      expect(help).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringMatching(/^Exit code: 0 /m),
      })
      expect(help?.out).toMatch(
        new RegExp(`^(Usage: )?npm ${['start', 'test'].includes(name) ? '' : 'run '}${name}`),
      )
      expect(refused).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('--no-such-flag'),
      })
      expect(refused?.err).not.toMatch(/^\s+at /m)
    },
  )

  it('npm run trace escapes control characters of a stack', () => {
    const directory = tempDirectory()
    mkdirSync(join(directory, SOURCE_MAPS), { recursive: true })
    writeFileSync(
      join(directory, SOURCE_MAPS, 'x.mjs.map'),
      '{"version":3,"sources":[],"names":[],"mappings":""}',
    )

    const input = 'Error: \u001b[2J\u202e\n    at f\n'
    const args = ['infra/operate/trace/main.ts', 'x', directory]
    const said = execFileSync(process.execPath, args, {
      cwd: PROJECT_ROOT,
      input,
      encoding: 'utf8',
    })

    expect(said).toBe('Error: \\u001b[2J\\u202e\n    at f\n')
  })
})
