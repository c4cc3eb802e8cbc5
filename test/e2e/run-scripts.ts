import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../support/source-file.ts'

export type ScriptResult = { readonly code: number; readonly out: string; readonly err: string }

const RUN_ALL = `
  const exit = process.exit
  const results = []
  for (const [file, ...argv] of JSON.parse(process.argv[1])) {
    const result = { code: 0, out: '', err: '' }
    let isOver = false
    const note = (name) => (text) => isOver || Boolean((result[name] += text))
    process.stdout.write = note('out')
    process.stderr.write = note('err')
    process.exit = (code = process.exitCode ?? 0) => {
      if (!isOver) result.code = code
      isOver = true
      throw new Error('the script has ended')
    }
    process.argv.splice(1, Infinity, file, ...argv)
    process.exitCode = undefined
    await import(file + '?' + results.length).catch((error) => isOver || Object.assign(result, { code: 1, err: error.stack }))
    if (!isOver) result.code = process.exitCode ?? 0
    results.push(result)
  }
  delete process.stdout.write
  process.stdout.write('\\n' + JSON.stringify(results), () => exit(0))`

/**
 * Runs scripts of the project with their arguments, in order, in one process, which loads their
 * modules once. Only for scripts that end by themselves. Output after a script's `process.exit` is
 * ignored.
 */
export async function runScripts(
  calls: readonly (readonly [file: string, ...argv: string[]])[],
  env: NodeJS.ProcessEnv = {},
) {
  const absoluteCalls = calls.map(([file, ...argv]) => [join(PROJECT_ROOT, file), ...argv])
  const args = ['--input-type=module', '--eval', RUN_ALL, JSON.stringify(absoluteCalls)]
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: PROJECT_ROOT,
    env: { ...process.env, ...env },
  })
  return JSON.parse(stdout.split('\n').at(-1) ?? '') as ScriptResult[]
}
