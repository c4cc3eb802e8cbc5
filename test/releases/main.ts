import { readOptions, runCommand } from '../../infra/local/terminal/command-line.ts'
import { FORMER_RELEASE } from '../simulation/releases/find-release.ts'
import { hasFormerRelease, loadFormerRelease } from '../simulation/releases/former-release.ts'
import { loadFunctions } from '../simulation/world/handlers.ts'
import { collectShapes } from './collect-shapes.ts'
import { NEXT, readFixture, writeFixture } from './fixture.ts'
import { attributesOf } from './stored-shape.ts'

const USAGE = `npm run shapes -- --write [--former]   keeps an item of every shape that a release writes (test/releases/written-by)
  --write     what this tree writes, in ${NEXT}.jsonl
  --former    what the release before wrote, by its own functions, in ${FORMER_RELEASE.tag}.jsonl
  --help, -h  this text
Without --write it only says what ${NEXT}.jsonl has not.
Exit code: 0 done, 1 something is missing, 2 called wrongly.`

const OPTIONS = {
  write: { type: 'boolean', default: false },
  former: { type: 'boolean', default: false },
} as const

process.exitCode = await runCommand(USAGE, process.argv.slice(2), async (argv) => {
  const { write, former } = readOptions(argv, OPTIONS)
  if (former && !hasFormerRelease()) {
    console.error(`${FORMER_RELEASE.tag} is not in this clone: fetch the history (git fetch --tags --unshallow)`)
    return 1
  }
  const functions = former ? await loadFormerRelease() : await loadFunctions()
  const items = await collectShapes({ functions, isFormer: former })
  const release = former ? FORMER_RELEASE.tag : NEXT
  if (write) {
    await writeFixture(release, items)
    console.log(`${items.length} items of ${release}`)
    return 0
  }
  const kept = new Set(readFixture(release).flatMap(({ item }) => attributesOf(item)))
  const missing = [...new Set(items.flatMap(attributesOf))].filter((one) => !kept.has(one))
  for (const one of missing) console.log(`not kept: ${one}`)
  return missing.length === 0 ? 0 : 1
})
