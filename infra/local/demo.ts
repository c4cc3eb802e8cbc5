import { demoWalk } from './demo-walk.ts'
import { TABLE_OPTION, type TableKind, tableFrom } from './emulators/local-table.ts'
import { startLocalCloud } from './local-cloud.ts'
import { watchProcess } from './process/watch-process.ts'
import { readOptions, runCommand } from './terminal/command-line.ts'
import { printableLines } from './terminal/printable.ts'

const USAGE = `npm run demo [-- --table memory|dynamodb]

Starts the gateway on free ports, takes one payment from creation to payout, and ends the gateway.
  --table memory|dynamodb
               where the table is, as for npm start
  --help, -h   this text
Exit code: 0 every step succeeded, 1 a step failed, 2 wrong arguments.`

try {
  const code = await runCommand(USAGE, process.argv.slice(2), async (argv) => {
    const { table } = readOptions(argv, TABLE_OPTION)
    return walk(tableFrom(table))
  })
  process.exit(code)
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  console.error(`\nThe demo failed: ${printableLines(reason)}`)
  process.exit(1)
}

async function walk(table: TableKind | undefined) {
  const lifecycle = watchProcess()
  console.log('Starting the gateway on free ports…')
  const cloud = await startLocalCloud({
    port: 0,
    table,
    signal: lifecycle.signal,
    onFailure: lifecycle.fail,
  })
  try {
    print(`Its table is ${cloud.table.place}.`)
    const interrupted = lifecycle.exitCode.then(() => Promise.reject(new Error('interrupted')))
    await Promise.race([demoWalk(cloud, print), interrupted])
    console.log(
      '\nDone: created once, credited once, announced once, paid out once. `npm start` keeps ' +
        'a gateway running for you.',
    )
    return 0
  } finally {
    await cloud.close()
  }
}

function print(text: string) {
  return console.log(printableLines(text))
}
