import { MANIFEST } from '../../../functions/manifest.ts'
import {
  readOptions,
  runProgram,
  UsageError,
  wholeNumber,
} from '../../../infra/local/terminal/command-line.ts'
import { writesOf } from './draw-write.ts'
import { facesStrangers, runTraitor } from './run-traitor.ts'

const USAGE = `npm run traitor -- [--seeds A..B] [--function NAME | --others]

In each history one function writes whatever its role allows. Fails if money of one client is paid out to another.
  --seeds A..B     default 1..50
  --function NAME  this function alone; default: each function that strangers reach and that writes
                   more than rate limits, in turn
  --others         each other function that writes: operators pay out only after days with an audit
  --help, -h       this text
Exit code: 0 no money went to another client, 1 some did, 2 wrong arguments.`

await runProgram(USAGE, async (argv) => {
  const {
    seeds,
    function: name,
    others,
  } = readOptions(argv, {
    seeds: { type: 'string', default: '1..50' },
    function: { type: 'string' },
    others: { type: 'boolean', default: false },
  })
  const [from = -1, to = -1] = seeds.split('..').map((text) => wholeNumber(text) ?? -1)
  if (from < 0 || to < from)
    throw new UsageError('--seeds takes two whole numbers, the smaller one first: 1..50')
  const specs = MANIFEST.filter((spec) =>
    name === undefined
      ? facesStrangers(spec) !== others && writesOf(spec).some(({ kind }) => kind !== 'RATE')
      : spec.name === name,
  )
  if (specs.length === 0) throw new UsageError(`no function ${name} in the manifest`)
  return runSeeds(specs, { from, to })
})

type Seeds = { readonly from: number; readonly to: number }

async function runSeeds(specs: typeof MANIFEST, { from, to }: Seeds) {
  let [failed, found, written] = [0, 0, 0]
  for (let seed = from; seed <= to; seed++) {
    const spec = specs[seed % specs.length]
    if (spec === undefined) continue
    const result = await runTraitor({ seed, spec, audited: !facesStrangers(spec) })
    written += result.writes
    if (result.imbalances > 0) found += 1
    if (result.problems.length > 0) failed += 1
    for (const problem of result.problems) console.log(`seed ${seed}, ${spec.name}: ${problem}`)
  }
  console.log(
    `${to - from + 1} histories, ${written} forged writes: an audit found differences in ${found}, ` +
      `money went to another client in ${failed}`,
  )
  return failed > 0 ? 1 : 0
}
