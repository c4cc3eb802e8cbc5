import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SOURCE_MAPS } from '../../infra/stack/project-root.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { PROJECT_ROOT } from '../support/source-file.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { runScripts, type ScriptResult } from './run-scripts.ts'

const SCRIPTS = Object.entries(packageJson.scripts).flatMap(([name, command]) => {
  const [, script = ''] = /(\S+(?:\.ts|main\.mjs)(?: \w+)?)$/.exec(command) ?? []
  const [file = '', ...argv] = script.split(' ')
  return file === '' ? [] : [{ name, args: [file, ...argv] as const }]
})

describe('the command line of every script', () => {
  let results: ReadonlyMap<string, ScriptResult>

  beforeAll(async () => {
    const calls = ['--help', '--no-such-flag'].flatMap((flag) =>
      SCRIPTS.map(({ name, args }) => ({ name, args, flag })),
    )
    const outcomes = await runScripts(calls.map(({ args, flag }) => [...args, flag]))
    results = new Map(
      outcomes.map((outcome, index) => [`${calls[index]?.name} ${calls[index]?.flag}`, outcome]),
    )
  })

  it('is tested: the list of scripts is complete', () => {
    expect(SCRIPTS.map(({ name }) => name)).toEqual(
      expect.arrayContaining(
        'start demo admin story source-lines sim mutants bench picture deploy doctor'.split(' '),
      ),
    )
  })

  it.each(SCRIPTS)(
    'npm run $name explains itself with --help, and refuses an unknown flag with a message',
    ({ name }) => {
      const help = results.get(`${name} --help`)
      const refusal = results.get(`${name} --no-such-flag`)

      expect(help).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringMatching(/^Exit code: 0 /m),
      })
      expect(help?.out).toMatch(
        new RegExp(`^(Usage: )?npm ${['start', 'test'].includes(name) ? '' : 'run '}${name}`),
      )
      expect(refusal).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('--no-such-flag'),
      })
      expect(refusal?.err).not.toMatch(/^\s+at /m)
    },
  )

  it('npm run source-lines escapes control characters of a stack', () => {
    const directory = tempDirectory()
    mkdirSync(join(directory, SOURCE_MAPS), { recursive: true })
    writeFileSync(
      join(directory, SOURCE_MAPS, 'x.mjs.map'),
      '{"version":3,"sources":[],"names":[],"mappings":""}',
    )

    const input = 'Error: \u001b[2J\u202e\n    at f\n'
    const args = ['infra/operate/source-lines/main.ts', 'x', directory]
    const output = execFileSync(process.execPath, args, {
      cwd: PROJECT_ROOT,
      input,
      encoding: 'utf8',
    })

    expect(output).toBe('Error: \\u001b[2J\\u202e\n    at f\n')
  })
})
