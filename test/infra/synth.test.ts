/**
 * Goal: `npm run synth` needs no network, warns of nothing and makes the same template from the same code.
 * Method: the CDK app runs twice as its own process, bundling included, into two directories.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { PROJECT_ROOT } from '../support/source-file.ts'

type Synthesis = { readonly directory: string; readonly output: string }

const synthesise = async (): Promise<Synthesis> => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-synth-'))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['infra/app.ts'], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, CDK_OUTDIR: directory, CDK_CONTEXT_JSON: JSON.stringify(cdkJson.context) },
    maxBuffer: 64 * 1024 * 1024,
  })
  return { directory, output: `${stdout}${stderr}` }
}

let runs: readonly Synthesis[] = []

beforeAll(async () => {
  runs = await Promise.all([synthesise(), synthesise()])
}, 240_000)

afterAll(() => {
  for (const { directory } of runs) rmSync(directory, { recursive: true })
})

/** Every file of the assembly that says what is deployed: templates and lists of assets, whose names are hashes. */
const deployed = ({ directory }: Synthesis): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(directory)
      .filter((name) => name.endsWith('.template.json') || name.endsWith('.assets.json'))
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  )

describe('synthesis', () => {
  it('makes the same templates and assets from the same code', () => {
    const [first, second] = runs.map(deployed)

    expect(Object.keys(first ?? {})).not.toHaveLength(0)
    expect(second).toStrictEqual(first)
  })

  it('warns of nothing', () => {
    // What npm says about the configuration of whoever runs this is not the stack's.
    const lines = runs.flatMap(({ output }) => output.split('\n').filter((line) => !line.startsWith('npm warn')))

    expect(lines.filter((line) => /warn|deprecat/i.test(line))).toStrictEqual([])
  })
})
