import { Command, CommanderError } from 'commander'
import * as v from 'valibot'
import { unreadableDto } from '../../../shared/page.ts'
import { asksForHelp, readOptions, UsageError } from '../../local/terminal/command-line.ts'
import { type CommandIo, onTerminal, printableLine } from '../../local/terminal/printable.ts'
import { type ActionCall, defineAction, LOCAL_STAGE, type Payload } from './action-command.ts'
import { completionScript } from './completion.ts'
import {
  failureOf,
  InvocationFailed,
  invokeAction,
  ReplySchema,
  tryAction,
} from './invoke-action.ts'
import { actionNamed, LISTED_ACTIONS, type ListedAction } from './listed-actions.ts'
import { type Progress, startProgress } from './progress.ts'
import { renderRefusal, renderReply } from './render-reply.ts'
import { runAnswer } from './run-answer.ts'
import { runFile } from './run-file.ts'
import { runToday } from './run-today.ts'
import { MAX_RUNS, runsOf } from './runs-of.ts'
import { writePayoutFiles } from './write-payout-files.ts'

/** 0: done. 1: refused, or failed. 2: wrong arguments. */
type ExitCode = 0 | 1 | 2

/** The output is only the CSV, so that it can go into a file. */
const CsvReply = v.object({ csv: v.string() })

/** The operator continues from the cursor, or `--all` from `next`. */
const Resumable = v.object({ cursor: v.string() })
const NextPart = v.object({ count: v.number(), next: v.string() })

/**
 * The operators' tool: one action per call, here or on AWS. It never prompts, so scripts can use
 * it. A refused action ends with a code other than 0.
 */
export async function runAdmin(argv: readonly string[], output: CommandIo): Promise<ExitCode> {
  const io = onTerminal(output)
  if (argv[0] === 'completion' && argv.length === 1) {
    io.out(completionScript())
    return 0
  }
  const program = emptyProgram(io)
  const namedAction = LISTED_ACTIONS.filter(({ name }) => name === argv[0])
  let code: ExitCode = 0
  try {
    if (argv[0] === 'today' && !asksForHelp(argv)) return await today(argv.slice(1), io)
    if (argv[0] === 'month' && !asksForHelp(argv)) {
      const { monthCommand } = await import('./month/month-command.ts')
      return (await monthCommand(argv.slice(1), io)) ? 0 : 1
    }
    for (const spec of namedAction.length > 0 ? namedAction : LISTED_ACTIONS) {
      const command = program.command(spec.name).helpGroup(headingOf(spec))
      defineAction(command, spec, io.env['GATEWAY_OPERATOR'], async (call) => {
        code = await runCall(spec, call, io)
      })
    }
    // With --help anywhere, the command prints help and checks no other argument.
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

async function runCall(spec: ListedAction, { file, out, ...call }: ActionCall, io: CommandIo) {
  if (file !== undefined) {
    const run = spec.takesFile === 'answer' ? runAnswer : runFile
    return (await run(spec, { ...call, file }, io)) ? 0 : 1
  }
  if (spec.writesFile && !call.json) {
    return (await writePayoutFiles(spec, { ...call, folder: out ?? '.' }, io)) ? 0 : 1
  }
  return printReply(io, spec.name, call, await invoke(spec, call, io))
}

async function today(argv: readonly string[], io: CommandIo): Promise<ExitCode> {
  const options = { stage: { type: 'string', default: LOCAL_STAGE } } as const
  const { stage } = readOptions(argv, options)
  const ask = (name: string, payload: Payload) =>
    invoke(actionNamed(name), { stage, json: false, payload }, io).catch(failureOf)
  return (await runToday(stage, ask, io)) ? 0 : 1
}

const ENVIRONMENT = `
Environment:
  GATEWAY_OPERATOR         the operator, for actions that require --operator
  GATEWAY_DUTY             your duty on the local gateway: look, support, finance, approve,
                           admin, deploy or oncall
  PORT                     the port of the local gateway, 3000 by default
  AWS_REGION, AWS_PROFILE  the region of a stage on AWS, and your credentials

<action> --help shows its fields and options. today shows what waits for an operator: payouts,
approvals, cases, suspense, differences. month 2026-11 --out DIR writes the files of a month:
books, statements, payouts, suspense, and a page that adds them up. Times are UTC. Days and months
are those of Asia/Jakarta (UTC+7). completion prints a script for bash and zsh:
  eval "$(npm run -s admin -- completion)" makes the command gateway-admin. Without --stage, commands go to the gateway on this machine.`

function emptyProgram(io: CommandIo) {
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

function headingOf({ duty, isScheduled }: ListedAction) {
  return isScheduled ? 'Scheduled work, started now, of deploy:' : `Actions of ${duty}:`
}

async function invoke(spec: ListedAction, call: ActionCall, io: CommandIo) {
  const progress = startProgress(io, `${spec.name} is running`)
  try {
    return await (call.all
      ? repeatAction(spec, call, { ...io, progress })
      : collectReport(spec, call, { ...io, progress }))
  } finally {
    progress.end()
  }
}

const CountedReply = v.object({
  status: v.literal(200),
  body: v.object({
    count: v.number(),
    passed_over: v.optional(v.number(), 0),
    unreadable_ids: v.optional(v.array(v.string()), []),
    next: v.optional(v.string()),
  }),
})

/**
 * Invokes an action until nothing is left, and answers the sums. A refusal is answered, and the
 * count before it printed.
 */
async function repeatAction(
  spec: ListedAction,
  call: ActionCall,
  io: CommandIo & { readonly progress: Progress },
) {
  const sums = { count: 0, passed_over: 0 }
  const ids: string[] = []
  let payload = call.payload
  const reached = () =>
    `${sums.count} rounds began; continue with --cursor ${String(payload['cursor'])}`
  for (let run = 0; run < MAX_RUNS; run++) {
    const answer = await tryAction(spec, { ...call, payload }, io.env)
    const reply = v.safeParse(CountedReply, answer)
    if (!reply.success) {
      if (run > 0) io.err(reached())
      if (answer instanceof InvocationFailed) throw answer
      return answer
    }
    const { body } = reply.output
    sums.count += body.count
    sums.passed_over += body.passed_over
    ids.push(...body.unreadable_ids)
    io.progress.say(`${spec.name}: ${sums.count} rounds began`)
    if (body.next === undefined) return { status: 200, body: { ...sums, ...unreadableDto(ids) } }
    payload = { ...call.payload, cursor: body.next }
  }
  throw new InvocationFailed(`${MAX_RUNS} runs are done: ${reached()}`)
}

/** What a run adds to a report. With `continuing`, the next run starts at the run's cursor. */
const ReportPart = v.object({
  status: v.literal(200),
  body: v.looseObject({
    csv: v.optional(v.string()),
    data: v.optional(v.array(v.unknown())),
    unreadable_ids: v.optional(v.array(v.string())),
    batch: v.optional(v.unknown()),
    file: v.optional(v.unknown()),
    left_out: v.optional(v.array(v.unknown())),
  }),
})

type ReportBody = v.InferOutput<typeof ReportPart>['body']

/**
 * Joins the parts of a CSV or a list. Each run of `payout-file` may make a batch, and no batch or
 * file may be lost.
 */
async function collectReport(
  spec: ListedAction,
  call: ActionCall,
  { env, progress, err }: CommandIo & { readonly progress: Progress },
) {
  const parts: ReportBody[] = []
  let isWhole = false
  const ask = (payload: Payload) => invokeAction(spec, { ...call, payload }, env)
  try {
    for await (const answer of runsOf(spec.name, call.payload, ask)) {
      if (!v.is(ReportPart, answer)) return answer
      parts.push(answer.body)
      progress.say(`${spec.name}: ${parts.length} runs are done, more is left`)
    }
    isWhole = true
  } finally {
    if (spec.writesFile && parts.length > 0 && !isWhole)
      err(JSON.stringify(batchesIn(parts), null, 2))
  }
  return { status: 200, body: spec.writesFile ? batchesIn(parts) : wholeOf(parts) }
}

/** A list of all clients is shown whole, without its pages. */
function wholeOf(parts: readonly ReportBody[]) {
  const last = parts.at(-1)
  return {
    ...last,
    ...('from' in { ...last } && { pagination: undefined }),
    ...(last?.csv !== undefined && { csv: parts.map(({ csv = '' }) => csv).join('') }),
    ...(last?.data && { data: parts.flatMap(({ data = [] }) => data) }),
    ...unreadableDto([...new Set(parts.flatMap((part) => part.unreadable_ids ?? []))]),
  }
}

function batchesIn(parts: readonly ReportBody[]): object {
  return {
    batches: parts.flatMap(({ batch }) => batch ?? []),
    files: parts.flatMap(({ file }) => file ?? []),
    left_out: parts.flatMap(({ left_out: leftOut = [] }) => leftOut),
    audits: parts.flatMap(({ audit }) => audit ?? []),
  }
}

function printReply(
  io: CommandIo,
  action: string,
  { json, stage }: ActionCall,
  answer: unknown,
): ExitCode {
  const { status, body } = v.is(ReplySchema, answer) ? answer : { status: 200, body: answer }
  const asJson = JSON.stringify(body, null, 2)
  if (status >= 400) {
    io.err(json ? asJson : renderRefusal(action, stage, { status, body }))
    return 1
  }
  if (json) {
    io.out(asJson)
    return 0
  }
  io.out(v.is(CsvReply, body) ? body.csv.trimEnd() : renderReply(action, body))
  if (v.is(Resumable, body))
    io.err(printableLine(`More is left: continue with --cursor ${body.cursor}`))
  if (v.is(NextPart, body)) io.err('More is left: --all repeats the action until nothing is left')
  return 0
}

/**
 * `--bank-reference` is `--bank_reference`. An unknown flag stays as typed, for the error message.
 */
function withUnderscores(program: Command, argument: string) {
  const spelled = argument.replace(/(?<=^--[^=]+)-/g, '_')
  const [flag] = spelled.split('=')
  return program.commands.some(({ options }) => options.some(({ long }) => long === flag))
    ? spelled
    : argument
}
