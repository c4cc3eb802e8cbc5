import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SOURCE_MAPS } from '../../infra/stack/project-root.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { type Ended, runScripts } from './run-scripts.ts'

const ROOT = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

/** Every script of our own, from the list that npm has. */
const OWN = Object.entries(scripts).flatMap(([name, command]) => {
  const [, file] = /(\S+\.ts)$/.exec(command) ?? []
  return file === undefined ? [] : [{ name, file }]
})

const run = (file: string, argv: readonly string[], input = '') =>
  new Promise<Ended>((resolve) => {
    const child = execFile(process.execPath, [file, ...argv], { cwd: ROOT }, (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    )
    child.stdin?.end(input)
  })

/** Every script with each of these flags alone. */
const runAll = async (...flags: readonly string[]): Promise<readonly ReadonlyMap<string, Ended>[]> => {
  const ended = [...(await runScripts(flags.flatMap((flag) => OWN.map(({ file }) => [file, flag] as const))))]
  return flags.map(() => new Map(OWN.map(({ name }) => [name, ended.shift() as Ended])))
}

describe('the command lines of every script', () => {
  let helped = new Map<string, Ended>() as ReadonlyMap<string, Ended>
  let refused = helped

  beforeAll(async () => {
    ;[helped = refused, refused = helped] = await runAll('--help', '--no-such-flag')
  })

  it('are all of them', () => {
    expect(OWN.map(({ name }) => name)).toEqual(
      expect.arrayContaining('start demo admin trace sim mutants bench picture deploy doctor restore'.split(' ')),
    )
  })

  it.each(OWN)('npm run $name -- --help says what it does and how it ends', ({ name }) => {
    const { code, out, err } = helped.get(name) as Ended

    expect([code, err]).toStrictEqual([0, ''])
    expect(out).toMatch(new RegExp(`^(Usage: )?npm ${['start', 'test'].includes(name) ? '' : 'run '}${name}`))
    expect(out).toMatch(/^Exit code: 0 /m)
  })

  it.each(OWN)('npm run $name refuses a flag it does not know in words', ({ name }) => {
    const { code, out, err } = refused.get(name) as Ended

    expect({ code, out }).toStrictEqual({ code: 2, out: '' })
    expect(err).toContain('--no-such-flag')
    expect(err).not.toMatch(/^\s+at /m)
  })

  it('npm run trace shows what a stack says as text', async () => {
    const directory = tempDirectory()
    mkdirSync(join(directory, SOURCE_MAPS), { recursive: true })
    writeFileSync(join(directory, SOURCE_MAPS, 'x.mjs.map'), '{"version":3,"sources":[],"names":[],"mappings":""}')

    const { code, out } = await run(
      'infra/operate/trace/main.ts',
      ['x', directory],
      'Error: \u001b[2J\u202e\n    at f\n',
    )

    expect({ code, out }).toStrictEqual({ code: 0, out: 'Error: \\u001b[2J\\u202e\n    at f\n' })
  })
})
