import * as v from 'valibot'
import { chunks } from '../../../shared/chunks.ts'
import type { AnswerLine } from '../../../shared/payout/answer-payouts.ts'
import { AnsweredSchema } from '../../local/console/page/operate/operate-shapes.ts'
import { type CommandIo, printableLine } from '../../local/terminal/printable.ts'
import type { ActionCall } from './action-command.ts'
import { InvocationFailed, ReplySchema, tryAction } from './invoke-action.ts'
import type { ListedAction } from './listed-actions.ts'
import { readAnswer } from './read-answer.ts'
import { readTables } from './read-tables.ts'
import { renderRefusal, withCommands } from './render-reply.ts'

const LINES_A_CALL = 100

type AnsweredLine = v.InferOutput<typeof AnsweredSchema>['lines'][number]
const AnsweredReply = v.object({ status: v.literal(200), body: AnsweredSchema })

/**
 * Calls the action with the lines of the bank's answer, and prints what became of each, with
 * `--json` as one value. After a call without an answer the same file is safe to repeat. Answers
 * whether no line was refused.
 */
export async function runAnswer(
  spec: ListedAction,
  { file, ...call }: ActionCall & { readonly file: string },
  io: CommandIo,
) {
  const { lines, refused, passedOver } = readAnswer(file, await readTables(file))
  const counts = { done: 0, failed: 0, refused: 0 }
  const results: AnsweredLine[] = []
  const report = (result: AnsweredLine) => {
    counts[result.result] += 1
    results.push(result)
    const text = printableLine(textOfResult(result, call.stage))
    if (result.result === 'refused') io.err(text)
    else if (!call.json) io.out(text)
  }
  const printJson = () => {
    if (call.json) io.out(JSON.stringify({ lines: results, passed_over: passedOver }, null, 2))
  }
  for (const { line, id, reason } of refused)
    report({ line, settlement_id: id, result: 'refused', reason })
  if (lines.length + refused.length === 0) io.err(printableLine(`${file} has no line of a payout`))
  for (const chunk of chunks(lines, LINES_A_CALL)) {
    const payload = { ...call.payload, lines: chunk }
    const answer = await tryAction(spec, { ...call, payload }, io.env)
    const reply = v.safeParse(AnsweredReply, answer)
    if (!reply.success) {
      io.err(failureText(spec, call.stage, answer))
      const unsent = lines.filter((one) => (chunk.at(-1)?.line ?? 0) < one.line)
      io.err(
        `${counts.done} done, ${counts.failed} failed before; ${textOf(chunk)} not answered, ` +
          `${textOf(unsent)} not sent; repeat the same file`,
      )
      printJson()
      return false
    }
    for (const result of reply.output.body.lines) report(result)
  }
  printJson()
  if (!call.json) {
    io.out(`${counts.done} done, ${counts.failed} failed, ${counts.refused} refused`)
    if (passedOver > 0) io.out(`lines of the type PAYMENT passed over: ${passedOver}`)
  }
  return lines.length > 0 && counts.refused === 0
}

function textOfResult({ line, settlement_id: id, result, reason }: AnsweredLine, stage: string) {
  return `line ${line}  ${id || '-'}  ${result}${reason ? `: ${withCommands(reason, stage)}` : ''}`
}

function textOf(lines: readonly AnswerLine[]) {
  const [first, last] = [lines[0], lines.at(-1)]
  return first && last ? `lines ${first.line} to ${last.line} were` : 'no line was'
}

function failureText(spec: ListedAction, stage: string, answer: unknown) {
  if (answer instanceof InvocationFailed) return printableLine(`no answer: ${answer.message}`)
  return renderRefusal(spec.name, stage, v.parse(ReplySchema, answer))
}
