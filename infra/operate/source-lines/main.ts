import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { runProgram, UsageError } from '../../local/terminal/command-line.ts'
import { printableLines } from '../../local/terminal/printable.ts'
import { SOURCE_MAPS } from '../../stack/project-root.ts'
import { resolveStack } from './resolve-stack.ts'

const USAGE = `npm run source-lines -- <function> [cdk.out of its deployment] < stack.txt

Translates the error_stack of a deployed function's log line: lines of the source instead of lines of the bundle. The
directory is the cdk.out of the same deployment (default: cdk.out). The map of another version names wrong lines.
Exit code: 0 done, 1 the function has no map, 2 wrong arguments.`

await runProgram(USAGE, async ([name, directory = 'cdk.out', ...more]) => {
  if (name === undefined) throw new UsageError('name the function whose stack it is')
  if (name.startsWith('-')) throw new UsageError(`unknown flag: ${name}`)
  if (more.length > 0) throw new UsageError(`unexpected argument: ${more.join(' ')}`)
  if (process.stdin.isTTY) throw new UsageError('give the stack on the standard input')
  const file = join(directory, SOURCE_MAPS, `${name}.mjs.map`)
  if (!existsSync(file)) {
    console.error(
      printableLines(
        `${file} is missing: is it a function of the manifest, and that the cdk.out of its deployment?`,
      ),
    )
    return 1
  }
  const stack = (await text(process.stdin)).replaceAll('\\n', '\n')
  const resolved = resolveStack(stack, new SourceMap(JSON.parse(readFileSync(file, 'utf8'))))
  process.stdout.write(printableLines(resolved))
  return 0
})
