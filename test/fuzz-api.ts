import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { demoWalk } from '../infra/local/demo-walk.ts'
import { startLocalCloud } from '../infra/local/local-cloud.ts'
import { readOptions, runProgram } from '../infra/local/terminal/command-line.ts'
import { DESCRIPTION } from './support/described-answers.ts'
import { makePythonEnvironment, runTool } from './support/run-tool.ts'

const SCHEMATHESIS = '4.32.5'
const REQUESTS = 10_000
const MAX_ROUNDS = 10

const ENVIRONMENT = join(tmpdir(), `gateway-schemathesis-${SCHEMATHESIS}`)

/**
 * The provider refuses amounts outside its limits, and such a create is a 500
 * (docs/merchants/payments.md).
 */
const CONFIG = `[[operations]]
include-name = "POST /v1/payments"

[operations.checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 500]
`
const CONFIG_FILE = join(ENVIRONMENT, 'gateway.toml')

const USAGE = `npm run fuzz:api

Schemathesis makes at least ${REQUESTS} requests, valid and invalid, from the description of the API, and sends them
to a gateway on this machine. It fails on a 5xx, except of a create that the provider refuses. It also fails on a status,
header or body that is not described. Needs Python 3.10 or newer and, the first time, PyPI: Schemathesis ${SCHEMATHESIS} is
installed into a virtual environment in the system's temporary directory.
  --help, -h   this text
Exit code: 0 no failure, 1 a failure, 2 wrong arguments.`

/** Checks that contradict the specification: docs/decisions.md. */
const NOT_OURS = [
  'unsupported_method',
  'allow_header_conformance',
  'negative_data_rejection',
  'positive_data_acceptance',
]

await runProgram(USAGE, (argv) => {
  readOptions(argv, {})
  return fuzz()
})

async function fuzz() {
  await makePythonEnvironment(ENVIRONMENT, [`schemathesis==${SCHEMATHESIS}`])
  writeFileSync(CONFIG_FILE, CONFIG)
  let answered = 0
  const bugs: string[] = []
  const count = (line: string) => {
    if (line.includes('"request.completed"') || line.includes('"request.failed"')) answered++
    if (line.includes('"request.failed"') && !line.includes('"error_name":"GatewayError"'))
      bugs.push(line)
  }
  const cloud = await startLocalCloud({ port: 0, writeLog: count })
  try {
    await demoWalk(cloud, () => undefined)
    const operations = Object.values(DESCRIPTION.paths).flatMap((methods) =>
      Object.keys(methods),
    ).length
    // An operation with few fields has few different requests. Rounds with other seeds send the
    // remaining requests.
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const args = [
        `--config-file=${CONFIG_FILE}`,
        'run',
        `${cloud.urls.api}/openapi.json`,
        `--header=Authorization: Bearer ${cloud.demoClient.api_key}`,
        `--max-examples=${Math.ceil((REQUESTS - answered) / operations)}`,
        `--exclude-checks=${NOT_OURS.join(',')}`,
        `--seed=${1 + round}`,
        '--request-timeout=30',
        '--continue-on-failure',
      ]
      const { code, output, errors } = await runTool(join(ENVIRONMENT, 'bin/schemathesis'), args, {
        cwd: tmpdir(),
      })
      console.log(`${output}${errors}\n${answered} requests were answered.`)
      for (const line of bugs) console.log(line)
      if (code !== 0 || bugs.length > 0) return 1
      if (answered >= REQUESTS) return 0
    }
    return 1
  } finally {
    await cloud.close()
  }
}
