import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SOURCE_MAPS } from '../source-maps.ts'
import { resolveStack } from './resolve-stack.ts'

/**
 * `npm run trace -- <function> [directory] < log line`: rewrites the `error_stack` of a deployed function's log line. The
 * directory is the `cdk.out` of that very deployment; another version's map names wrong lines.
 */
const USAGE = 'npm run trace -- <function> [cdk.out of its deployment] < stack.txt'

const [name, directory = 'cdk.out'] = process.argv.slice(2)
const file = name === undefined ? undefined : join(directory, SOURCE_MAPS, `${name}.mjs.map`)
if (file === undefined || process.stdin.isTTY) {
  console.error(USAGE)
  process.exitCode = 2
} else if (existsSync(file)) {
  const stack = (await text(process.stdin)).replaceAll('\\n', '\n')
  process.stdout.write(resolveStack(stack, new SourceMap(JSON.parse(readFileSync(file, 'utf8'))).payload))
} else {
  console.error(
    `${file} is missing: is it a function of the manifest, and that the cdk.out of its deployment?\n${USAGE}`,
  )
  process.exitCode = 1
}
