import { styleText } from 'node:util'
import * as v from 'valibot'
import { ActivityLineSchema, type ShownLine } from '../console/activity/activity-line.ts'
import { addressAt, readOptions, runProgram } from '../terminal/command-line.ts'
import { printableLine } from '../terminal/printable.ts'
import { exitCodeOf, reachGateway } from './call-gateway.ts'

const USAGE = `npm run watch

Shows the activity of the running gateway (npm start), line by line: payments, each webhook and its answer,
settlements, and failures. It starts with the past activity, and ends with the gateway or with Ctrl-C.
Coloured on a terminal, unless NO_COLOR is set. PORT is the gateway's port (default 3000).
  --help, -h   this text
Exit code: 0 the gateway ended or Ctrl-C, 1 no gateway runs, 2 wrong arguments.`

const STYLES = { good: 'green', bad: 'red', plain: 'reset' } as const satisfies Record<
  ShownLine['tone'],
  string
>
const SUBJECT_WIDTH = 10
const ID_LENGTH = 8

for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => process.exit(0))
// The reader may close the pipe, as in `npm run watch | head`.
process.stdout.on('error', () => process.exit(0))
await runProgram(USAGE, async (argv) => {
  readOptions(argv, {})
  return exitCodeOf(follow)
})

async function follow() {
  const { body } = await reachGateway(`${addressAt(process.env['PORT'])}/console/activity`)
  let unfinishedEvent = ''
  try {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (unfinishedEvent + chunk).split('\n\n')
      unfinishedEvent = events.pop() ?? ''
      for (const event of events) printEvent(event)
    }
  } catch {
    // The connection broke, for example by a SIGKILL of the gateway. Nothing more can be shown.
  }
  console.log('The gateway has ended.')
}

/** The gateway writes each event as one `data` line. */
function printEvent(event: string) {
  const data = /^data: (.*)$/m.exec(event)?.[1]
  const line = v.safeParse(ActivityLineSchema, JSON.parse(data ?? '{}'))
  if (line.success) console.log(terminalLine(line.output))
}

/** Makes every text printable before it adds colours. */
function terminalLine({ at, subject, tone, id = '', text }: ShownLine) {
  const [day = '', time = ''] = printableLine(at).split('T')
  const timeText = styleText('dim', `${day} ${time.slice(0, 8)}`)
  const shortId = styleText('dim', printableLine(id).slice(0, ID_LENGTH).padEnd(ID_LENGTH))
  return `${timeText}  ${styleText('bold', printableLine(subject).padEnd(SUBJECT_WIDTH))}  ${shortId}  ${styleText(STYLES[tone], printableLine(text))}`
}
