import * as v from 'valibot'
import { readOptionsOf, runProgram } from '../../local/terminal/command-line.ts'
import { printableLines } from '../../local/terminal/printable.ts'
import { LOCAL_STAGE } from '../admin/action-command.ts'
import { InvocationFailed, ReplySchema, tryAction } from '../admin/invoke-action.ts'
import { actionNamed } from '../admin/listed-actions.ts'
import { renderRefusal } from '../admin/render-reply.ts'
import { tellStory } from './tell-story.ts'

const USAGE = `npm run story -- PAYMENT_ID [--stage NAME]

Shows a payment's timeline, oldest first: creates at the provider, transitions, events, each webhook and its answer,
settlements, suspense. It invokes get-payment, which needs the duty look, and changes nothing.
  --stage NAME   local (the default) is this machine; any other is on AWS, with your credentials
  --help, -h     this text
Exit code: 0 done, 1 refused or failed, 2 wrong arguments.`

await runProgram(USAGE, async (argv) => {
  const options = { stage: { type: 'string', default: LOCAL_STAGE } } as const
  const { values, argument: id } = readOptionsOf('payment id', argv, options)
  const { stage } = values
  const spec = actionNamed('get-payment')
  const call = { stage, json: false, payload: { payment_id: id } }
  const answer = await tryAction(spec, call, process.env)
  if (answer instanceof InvocationFailed) {
    console.error(printableLines(answer.message))
    return 1
  }
  const reply = v.parse(ReplySchema, answer)
  if (reply.status >= 400) {
    console.error(printableLines(renderRefusal(spec.name, stage, reply)))
    return 1
  }
  console.log(tellStory(reply.body))
  return 0
})
