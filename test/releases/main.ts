import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runCommand } from '../../infra/local/terminal/command-line.ts'
import { collectShapes } from './collect-shapes.ts'
import { keep, keptTags, WRITTEN_BY } from './kept-shapes.ts'

const USAGE = `npm run shapes [-- --write]   counts the shapes that this tree stores
  --write     keeps an item of each, for later releases to read: test/releases/written-by/v<version of package.json>.jsonl
  --help, -h  this text
Exit code: 0 done, 1 this version has its file already, 2 called wrongly.`

const tagHere = (): string => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string
  }
  return `v${version}`
}

process.exitCode = await runCommand(USAGE, process.argv.slice(2), async (argv) => {
  const { write } = readOptions(argv, { write: { type: 'boolean', default: false } })
  const tag = tagHere()
  if (write && keptTags(WRITTEN_BY).includes(tag)) {
    console.error(
      `test/releases/written-by/${tag}.jsonl exists, and a kept file never changes: raise the version in package.json first`,
    )
    return 1
  }
  const kept = await collectShapes()
  if (write) keep(WRITTEN_BY, tag, kept)
  console.log(`${kept.length} shapes${write ? `, kept as ${tag}` : ''}`)
  return 0
})
