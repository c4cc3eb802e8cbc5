import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runProgram } from '../../infra/local/terminal/command-line.ts'
import { collectShapes, textOf, WRITTEN_BY } from './kept-shapes.ts'
import { KINDS, kindOf } from './readers.ts'

const USAGE = `npm run shapes [-- --write]   counts the shapes that this tree stores
  --write     stores an item of each, for later releases to read: test/releases/written-by/v<version of package.json>.jsonl
  --help, -h  this text
Exit code: 0 done, 1 this version has its file already or a kind of item was not stored, 2 wrong arguments.`

await runProgram(USAGE, async (argv) => {
  const { write } = readOptions(argv, { write: { type: 'boolean', default: false } })
  const manifest = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { readonly version: string }
  const file = join(WRITTEN_BY, `v${version}.jsonl`)
  if (write && existsSync(file)) {
    console.error(
      `${file} exists, and a kept file never changes: raise the version in package.json first`,
    )
    return 1
  }
  // 25 histories store every kind of item, and most of its shapes.
  const kept = await collectShapes(Array.from({ length: 25 }, (_, at) => at + 1))
  const missing = KINDS.filter((kind) => !kept.some(({ item }) => kindOf(item) === kind))
  console.log(`${kept.length} shapes${missing.map(([key]) => `; none of ${String(key)}`).join('')}`)
  if (missing.length > 0) return 1
  if (write) writeFileSync(file, textOf(kept), { flag: 'wx' })
  return 0
})
