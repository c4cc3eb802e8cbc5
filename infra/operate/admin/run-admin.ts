import { Command, CommanderError } from 'commander'
import * as v from 'valibot'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { asksForHelp, UsageError } from '../../local/terminal/command-line.ts'
import { type Output, onTerminal, printableLine } from '../../local/terminal/printable.ts'
import { ACTIONS, describeAction } from './action.ts'
import { type ActionCall, defineAction } from './action-command.ts'
import { InvocationFailed, invokeAction } from './invoke-action.ts'
import { renderRefusal, renderReply } from './render-reply.ts'
import { runAnswer } from './run-answer.ts'
import { runFile } from './run-file.ts'
import { writePayoutFiles } from './write-payout-files.ts'

export type AdminIo = Output & { readonly env: NodeJS.ProcessEnv }

/** 0: done. 1: refused, or failed. 2: wrong arguments. */
export type ExitCode = 0 | 1 | 2

/** The answer of an operator action. Scheduled work answers its summary without this envelope. */
const Reply = v.strictObject({ status: v.number(), body: v.unknown() })

/** An answer as CSV. The output is only the CSV, so that it can go into a file. */
const CsvReply = v.object({ csv: v.string() })

/** A part of an answer. The operator continues from the cursor, or `--all` from `next`. */
const Resumable = v.object({ cursor: v.string() })
const NextPart = v.object({ count: v.number(), next: v.string() })

/**
 * The operators' tool: one action per call, on this machine or on AWS. It never prompts, so scripts
 * can use it. A refused action ends with a code other than 0.
 */
export async function runAdmin(argv: readonly string[], output: AdminIo): Promise<ExitCode> {
  const io = onTerminal(output)
  const program = emptyProgram(io)
  const namedAction = ACTIONS.filter(({ name }) => name === argv[0])
  let code: ExitCode = 0
  try {
    for (const spec of namedAction.length > 0 ? namedAction : ACTIONS) {
      const command = program.command(spec.name).helpGroup(headingOf(spec))
      const action = await describeAction(spec)
      defineAction(command, action, io.env['GATEWAY_OPERATOR'], async ({ file, out, ...call }) => {
        if (file !== undefined) {
          const run =
            action.takesFile === 'answer'
              ? runAnswer(spec, { ...call, file }, io)
              : runFile(spec, action.input, { ...call, file }, io)
          code = (await run) ? 0 : 1
        } else if (action.writesFile && !call.json) {
          const isDone = await writePayoutFiles(spec, { ...call, folder: out ?? '.' }, io)
          code = isDone ? 0 : 1
        } else {
          const answer = call.all
            ? await repeatAction(spec, call, io)
            : await collectReport(spec, call, io.env)
          code = printReply(io, spec.name, call.json, answer)
        }
      })
    }
    // With --help anywhere, the command only prints help. It calls no action and does not check
    // other arguments.
    const words = asksForHelp(argv)
      ? [...argv.slice(0, 1), '--help']
      : argv.map((word) => withUnderscores(program, word))
    await program.parseAsync(words, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof UsageError || error instanceof InvocationFailed)) throw error
    io.err(printableLine(error.message))
    return error instanceof UsageError ? 2 : 1
  }
}

const ENVIRONMENT = `
Environment:
  GATEWAY_OPERATOR         the operator, for actions that require --operator
  GATEWAY_DUTY             your duty on the local gateway: look, support, finance, approve,
                           admin or deploy
  PORT                     the port of the local gateway, 3000 by default
  AWS_REGION, AWS_PROFILE  the region of a stage on AWS, and your credentials

<action> --help shows its fields and options. Without --stage, commands go to the gateway on this machine.`

function emptyProgram(io: AdminIo): Command {
  return new Command('npm run admin --')
    .usage('<action> [ID] [--field value]… [--stage NAME] [--json]')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('npm run admin -- --help shows the actions, <action> --help its fields.')
    .configureHelp({
      subcommandTerm: (action) => action.name(),
      optionDescription: ({ description }) => description,
    })
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.err(text.trimEnd()),
    })
    .addHelpText('after', ENVIRONMENT)
    .addHelpText('afterAll', '\nExit code: 0 done, 1 refused or failed, 2 wrong arguments.')
}

function headingOf({ trigger }: FunctionSpec): string {
  return trigger.kind === 'operator'
    ? `Actions of ${trigger.duty}:`
    : 'Scheduled work, started now, of deploy:'
}

/** The limit of runs for one report. Each run reads for minutes. */
const MAX_RUNS = 500

const CountedReply = v.object({
  status: v.literal(200),
  body: v.object({
    count: v.number(),
    passed_over: v.optional(v.number(), 0),
    next: v.optional(v.string()),
  }),
})

/**
 * Invokes an action until nothing is left, and answers the sums. A refusal is answered, and the
 * count before it printed.
 */
async function repeatAction(spec: FunctionSpec, call: ActionCall, io: AdminIo): Promise<unknown> {
  const sums = { count: 0, passed_over: 0 }
  let payload = call.payload
  for (let run = 0; run < MAX_RUNS; run++) {
    const answer = await invokeAction(spec, { ...call, payload }, io.env).catch(
      (error: unknown) => {
        io.err(`${sums.count} rounds began before; run the same command again to continue`)
        throw error
      },
    )
    const reply = v.safeParse(CountedReply, answer)
    if (!reply.success) {
      if (sums.count > 0)
        io.err(`${sums.count} rounds began before; run the same command again to continue`)
      return answer
    }
    const { count, passed_over: passedOver, next } = reply.output.body
    sums.count += count
    sums.passed_over += passedOver
    if (next === undefined) return { status: 200, body: sums }
    payload = { ...call.payload, cursor: next }
  }
  throw new InvocationFailed(
    `${sums.count} rounds began in ${MAX_RUNS} runs; run the same command again to continue`,
  )
}

/**
 * A report, or the part of the report that one run finished. With `continuing`, the next run
 * continues from the cursor.
 */
const ReportPart = v.object({
  status: v.literal(200),
  body: v.looseObject({ csv: v.optional(v.string()), data: v.optional(v.array(v.unknown())) }),
})

/** Invokes an action until its report is complete. Joins the parts of a CSV or a list. */
async function collectReport(
  spec: FunctionSpec,
  call: ActionCall,
  env: NodeJS.ProcessEnv,
): Promise<unknown> {
  const parts: v.InferOutput<typeof ReportPart>['body'][] = []
  let payload = call.payload
  for (let run = 0; run < MAX_RUNS; run++) {
    const answer = await invokeAction(spec, { ...call, payload }, env)
    if (!v.is(ReportPart, answer)) return answer
    const { body } = answer
    parts.push(body)
    if (body['continuing'] !== true || typeof body['cursor'] !== 'string') {
      const whole = {
        ...(body.csv !== undefined && { csv: parts.map(({ csv = '' }) => csv).join('') }),
        ...(body.data && { data: parts.flatMap(({ data = [] }) => data) }),
      }
      return { ...answer, body: { ...body, ...whole } }
    }
    payload = { ...call.payload, cursor: body['cursor'] }
  }
  throw new InvocationFailed(`${spec.name} was not finished after ${MAX_RUNS} runs`)
}

function printReply(io: AdminIo, action: string, json: boolean, answer: unknown): ExitCode {
  const { status, body } = v.is(Reply, answer) ? answer : { status: 200, body: answer }
  const asJson = JSON.stringify(body, null, 2)
  if (status >= 400) {
    io.err(json ? asJson : renderRefusal(action, status, body))
    return 1
  }
  if (!json && v.is(CsvReply, body)) {
    io.out(body.csv.trimEnd())
  } else io.out(json ? asJson : renderReply(action, body))
  if (!json && v.is(Resumable, body))
    io.err(printableLine(`More is left: continue with --cursor ${body.cursor}`))
  if (!json && v.is(NextPart, body))
    io.err('More is left: --all repeats the action until nothing is left')
  return 0
}

/**
 * Accepts `--bank-reference` for `--bank_reference`. An unknown flag stays as typed, for the error
 * message.
 */
function withUnderscores(program: Command, argument: string): string {
  const spelled = argument.replace(/(?<=^--[^=]+)-/g, '_')
  const [flag] = spelled.split('=')
  return program.commands.some(({ options }) => options.some(({ long }) => long === flag))
    ? spelled
    : argument
}
