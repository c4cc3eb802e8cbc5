import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, runProgram } from '../../../infra/local/terminal/command-line.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { fieldsOfUpdates } from './fields-of-updates.ts'
import { functionBundles } from './function-bundles.ts'
import { reachableAccess } from './reachable-table-access.ts'
import { updatedFields } from './updated-fields.ts'

const FILE = 'functions/updated-fields.ts'
const TABLE = /(?<=const UPDATED_FIELDS: .* = \{\n)[^]*?(?=\n\}\n)/
const LINE = 100

const HELP = `npm run grants [-- --write]

Reads which attributes the updates of each function change or compare, and prints them by kind of item.
  --write      puts them into ${FILE} instead: read its diff, because the functions' roles follow it
  --help, -h   this text
Exit code: 0 done, 2 wrong arguments.`

await runProgram(HELP, async (argv) => {
  const { write } = readOptions(argv, { write: { type: 'boolean' } })
  const table = await tableText()
  const path = join(PROJECT_ROOT, FILE)
  if (write) {
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(TABLE, () => table),
    )
    execFileSync(join(PROJECT_ROOT, 'node_modules/.bin/biome'), ['format', '--write', path])
  } else console.log(table)
  return 0
})

/** Functions that may change the same attributes of a kind share one row. */
async function tableText() {
  const fieldsOf = fieldsOfUpdates()
  const rows = [...(await functionBundles())].flatMap(([name, code]) =>
    Object.entries(updatedFields(reachableAccess(code).updates, fieldsOf)).map(
      ([kind, attributes]) => ({ kind, name, attributes }),
    ),
  )
  const kinds = Map.groupBy(rows, ({ kind }) => kind)
  return [...kinds]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, ofKind]) => {
      const shared = Map.groupBy(ofKind, ({ attributes }) => attributes.join(' '))
      const texts = [...shared.values()].map((same) =>
        rowText([same.map(({ name }) => name), same[0]?.attributes ?? []]),
      )
      return `  ${kind}: [\n${texts.join('\n')}\n  ],`
    })
    .join('\n')
}

function rowText(cells: readonly (readonly string[])[]) {
  const line = `    [${cells.map((words) => `'${words.join(' ')}'`).join(', ')}],`
  if (line.length <= LINE) return line
  return `    [\n${cells.map((words) => `      ${wrapped(words)},`).join('\n')}\n    ],`
}

function wrapped(words: readonly string[]) {
  const lines = words.reduce<readonly string[]>((done, word) => {
    const line = done.at(-1)
    return line !== undefined && line.length + word.length < LINE - 14
      ? [...done.slice(0, -1), `${line} ${word}`]
      : [...done, word]
  }, [])
  return lines.length === 1 ? `'${lines.join()}'` : `\`${lines.join('\n        ')}\``
}
