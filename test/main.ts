import { tableFrom } from '../infra/local/emulators/local-table.ts'
import { runCommand, UsageError } from '../infra/local/terminal/command-line.ts'

const USAGE = `npm test [-- [--table memory|dynamodb] [FILE…] [option of vitest…]]

Runs all tests but those of the night (*.night.test.ts), or the named files. All of them take three to seven minutes on two idle cores; a line says how far they are.
Some tests need DynamoDB Local; without Java 17 and Docker they are skipped.
  --table memory|dynamodb
               the table of integration, function and unit tests: in their own process (the default) or in DynamoDB Local
  --help, -h   this text; the options of vitest: npx vitest --help
Exit code: 0 every test passed, 1 one failed, 2 wrong arguments.`

const called = await runCommand(USAGE, process.argv.slice(2), startTests)
if (called !== 0) process.exitCode = called

async function startTests(argv: readonly string[]) {
  const words = argv.flatMap((word) =>
    word.startsWith('--table=') ? word.split(/(?<==)/) : [word],
  )
  const at = words.findIndex((word) => word === '--table' || word === '--table=')
  if (at !== -1) process.env['TEST_TABLE'] = tableFrom(words[at + 1] ?? '')
  const others = at === -1 ? words : words.toSpliced(at, 2)
  process.argv.splice(2, argv.length, 'run', ...others)
  try {
    await import(new URL('./vitest.mjs', import.meta.resolve('vitest/package.json')).href)
  } catch (error) {
    if (error instanceof Error && error.name === 'CACError')
      throw new UsageError(`${others.join(' ')}: ${error.message}`)
    throw error
  }
  return 0
}
