import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runTool } from '../../support/run-tool.ts'
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

async function loadedBy(...argv: readonly string[]): Promise<{ files: string[]; slow: string[] }> {
  const report = join(tempDirectory(), 'report.mjs')
  writeFileSync(report, REPORT)
  const tool = join(PROJECT_ROOT, 'infra/operate/admin/main.mjs')
  // The first run fills the compile cache; with it, Node needs no compiler.
  await runTool(process.execPath, [tool, ...argv])
  const { errors } = await runTool(process.execPath, ['--import', report, tool, ...argv])
  return JSON.parse(errors.trim().split('\n').at(-1) ?? '')
}

it('loads few files, and neither the compiler nor undici, to call an action', async () => {
  const { files, slow } = await loadedBy('get-client', '--help')

  expect(slow).toStrictEqual([])
  expect(files.filter((file) => /excel|aws-sdk|aws-cdk/.test(file))).toStrictEqual([])
  expect(files.length).toBeGreaterThan(20)
  expect(files.length).toBeLessThan(70)
})
