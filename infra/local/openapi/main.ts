import { readFileSync, writeFileSync } from 'node:fs'
import { timestampOf } from '../../../shared/time.ts'
import { readOptions, runProgram } from '../terminal/command-line.ts'
import { withWritten } from '../terminal/with-written.ts'
import { API_DOCUMENT, apiDocument, CLIENT_SCHEMAS, clientSchemas } from './api-document.ts'
import { channelTable, PAYMENTS_PAGE } from './channel-table.ts'

const USAGE = `npm run openapi [-- --write]

Records what a local gateway answers and prints the description of the API, as OpenAPI 3.1.
  --write      writes it to docs/openapi.yaml instead. Also writes its types to docs/examples, and the table of channels
               to docs/merchants/payments.md
  --help, -h   this text
Exit code: 0 done, 2 wrong arguments.`

await runProgram(USAGE, async (argv) => {
  const { write } = readOptions(argv, { write: { type: 'boolean' } })
  const text = await apiDocument()
  if (write) {
    writeFileSync(API_DOCUMENT, text)
    writeFileSync(CLIENT_SCHEMAS, clientSchemas(text))
    const page = readFileSync(PAYMENTS_PAGE, 'utf8')
    writeFileSync(
      PAYMENTS_PAGE,
      withWritten(page, 'openapi', channelTable(timestampOf(Date.now()))),
    )
  } else console.log(text)
  return 0
})
