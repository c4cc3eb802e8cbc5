import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { jsonReply, parsedJson, startLocalHttpServer } from '../../process/local-http-server.ts'
import { portFrom, readOptions, runProgram, UsageError } from '../../terminal/command-line.ts'
import { printableLines } from '../../terminal/printable.ts'
import { CALLBACK_PATH } from '../../triggers/start-http-gateway.ts'
import { ENVIRONMENT_HELP } from '../environment-help.ts'
import { type TestEnvironment, testEnvironment } from '../test-environment.ts'
import type { ReceivedCallback } from './open-question.ts'
import { proveProvider } from './prove-provider.ts'

const USAGE = `npm run prove-provider [-- --out FILE]

Walks every channel at the provider's own test mode: creates, pays, cancels and reads. Answers what the provider's
documents leave open with yes or no. Takes some minutes: the test mode allows 60 calls a minute.
  --out FILE   also write the answers there, and a line for each exchange, without keys, ids, numbers and names of the
               account. Put it into test/contract/xendit/exchanges, as NAME.jsonl: tests replay the files of that folder
  --help, -h   this text
Environment:
${ENVIRONMENT_HELP}
Exit code: 0 every question was asked or this account cannot show it, 1 the walk ended early, 2 wrong arguments.`

const Event = v.object({ event: v.string() })

await runProgram(USAGE, async (argv) => {
  const { out } = readOptions(argv, { out: { type: 'string' } })
  const environment = testEnvironment(process.env)
  // Before the walk, so that its minutes are not lost.
  if (out !== undefined) keep(out, '', 'a')
  const receiver = environment.publicUrl ? await receiveCallbacks(environment) : undefined
  try {
    const { answers, exchanges, endedBy } = await proveProvider({
      environment,
      wait: (ms) => sleep(ms),
      nowMs: Date.now,
      callbacks: receiver?.callbacks,
      onProgress: (line) => console.error(`  ${line}…`),
    })
    for (const { answer, question, because } of answers)
      console.log(printableLines(`${answer.padEnd(9)}  ${question}  (${because})`))
    if (out !== undefined) {
      const head = {
        from: new URL(environment.url).hostname,
        at: new Date().toISOString(),
        answers,
      }
      keep(out, [head, ...exchanges].map((line) => `${JSON.stringify(line)}\n`).join(''))
      console.log(`${exchanges.length} exchanges are in ${out}. Read it before you commit it.`)
    }
    if (endedBy === undefined) return 0
    console.error(printableLines(`The walk ended early: ${endedBy}`))
    return 1
  } finally {
    await receiver?.close()
  }
})

function keep(path: string, text: string, flag = 'w') {
  try {
    writeFileSync(path, text, { flag })
  } catch (cause) {
    throw new UsageError(`${path} cannot be written`, { cause })
  }
}

/** On PORT, where the tunnel of XENDIT_CALLBACK_URL ends. Counts only genuine callbacks. */
async function receiveCallbacks({ publicUrl, callbackToken }: TestEnvironment) {
  const callbacks: ReceivedCallback[] = []
  const server = await startLocalHttpServer({
    port: portFrom(process.env['PORT']),
    admits: ({ method, url, headers }) =>
      method === 'POST' && url === CALLBACK_PATH && headers.host === publicUrl?.host,
    answer: ({ headers, body }) => {
      if (headers['x-callback-token'] !== callbackToken) return jsonReply(401, {})
      const event = v.safeParse(Event, parsedJson(body))
      if (event.success)
        callbacks.push({ event: event.output.event, hasWebhookId: 'webhook-id' in headers })
      return jsonReply(200, {})
    },
  })
  return { callbacks, close: () => server.close() }
}
