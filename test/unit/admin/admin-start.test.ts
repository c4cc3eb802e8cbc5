import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runTool } from '../../support/run-tool.ts'
import { json, startScriptedServer } from '../../support/scripted-server.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

/*
 * Goal: a call of the operators' tool begins soon. Method: count what Node loads, because a test
 * with a clock would fail on a busy machine.
 */

/** Prints the loaded files, and whether Node loaded its TypeScript compiler or its fetch. */
const REPORT = `
import { registerHooks } from 'node:module'
const files = []
registerHooks({
  load(url, context, next) {
    if (!url.startsWith('node:')) files.push(url)
    return next(url, context)
  },
})
process.on('exit', () => {
  const slow = process.moduleLoadList.filter((name) => /deps\\/(amaro|undici)/.test(name))
  console.error(JSON.stringify({ files, slow }))
})`

const TOOL = join(PROJECT_ROOT, 'infra/operate/admin/main.mjs')

async function loadedBy(...argv: readonly string[]): Promise<{ files: string[]; slow: string[] }> {
  const report = join(tempDirectory(), 'report.mjs')
  writeFileSync(report, REPORT)
  // The first run fills the compile cache; with it, Node needs no compiler.
  await runTool(process.execPath, [TOOL, ...argv])
  const { errors } = await runTool(process.execPath, ['--import', report, TOOL, ...argv])
  return JSON.parse(errors.trim().split('\n').at(-1) ?? '')
}

it('loads few files, and neither the compiler nor undici, to call an action', async () => {
  const { files, slow } = await loadedBy('get-client', '--help')

  expect(slow).toStrictEqual([])
  expect(files.filter((file) => /excel|aws-sdk|aws-cdk/.test(file))).toStrictEqual([])
  expect(files.length).toBeGreaterThan(20)
  expect(files.length).toBeLessThan(70)
})

it.for([
  ['today', 200, 6],
  ['approve --file "$2" 2>&1', 422, 3],
] as const)(
  'goes on in silence after its reader has closed the pipe, as head does: %s',
  async ([call, status, calls]) => {
    const { url, requests } = await startScriptedServer(json(200, { status, body: {} }))
    const env = { PORT: String(Number(new URL(url).port) - 1) }
    const file = join(tempDirectory(), 'lines.csv')
    writeFileSync(file, `operator,action,payload${'\na,b,{}'.repeat(3)}`)

    const argv = ['-c', `"$0" "$1" ${call} | true`, process.execPath, TOOL, file]
    const { errors } = await runTool('sh', argv, { env })

    expect([errors, requests.length]).toStrictEqual(['', calls])
  },
)
