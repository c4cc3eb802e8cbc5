import { readOptions, runProgram } from '../../infra/local/terminal/command-line.ts'
import { replayHistory } from './replay.ts'

const USAGE = `npm run model [-- [--histories N] [--from SEED]]

Replays random histories of rows and operators' actions on the gateway and on the model of the journal (test/model), and
compares every entry and the books' opening and closing of every account.
  --histories N  how many (2000)
  --from SEED    the first seed (1)
  --help, -h     this text
Exit code: 0 all agree, 1 otherwise, 2 wrong arguments.`

await runProgram(USAGE, async (argv) => {
  const options = readOptions(argv, {
    histories: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
  })
  const [count, first] = [Number(options.histories), Number(options.from)]
  let failed = 0
  for (let seed = first; seed < first + count; seed++) {
    const problems = await replayHistory(seed)
    if (problems.length > 0) failed++
    for (const problem of problems) console.log(`seed ${seed}: ${problem}`)
  }
  console.log(`${count} histories, ${failed} differ`)
  return failed === 0 ? 0 : 1
})
