import * as v from 'valibot'
import { type FunctionSpec, functionName } from '../../../functions/function-spec.ts'
import { asksForHelp, UsageError, wholeNumber } from '../../local/terminal/command-line.ts'
import { onTerminal, printable } from '../../local/terminal/printable.ts'
import { NO_REGION, regionOf } from '../check/region.ts'
import { ACTIONS, describedAction, findAction } from './action.ts'
import { actionHelp, overallHelp } from './help-text.ts'
import { InvocationFailed, invokeFunction } from './invoke-function.ts'
import { type Command, DEFAULT_STAGE, parseCommand } from './parse-command.ts'
import { renderRefusal, renderReply } from './render-reply.ts'
import { fieldsOf } from './schema-fields.ts'

export type AdminIo = {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
}

/** 0: done. 1: refused, or failed. 2: called wrongly. */
export type ExitCode = 0 | 1 | 2

const DEFAULT_PORT = 3000

/** The local gateway's Invoke API is on the port behind its own (design section 6). */
const endpointOf = (stage: string, env: AdminIo['env']): string | undefined => {
  if (stage !== DEFAULT_STAGE) return undefined
  const port = wholeNumber(env['PORT'] || String(DEFAULT_PORT)) ?? 0
  if (port < 1 || port > 65_534) throw new UsageError('PORT must be a number from 1 to 65534')
  return `http://127.0.0.1:${port + 1}`
}

/** What operator actions answer; scheduled work answers its summary as it is. */
const Reply = v.object({ status: v.number(), body: v.unknown() })

/** An answer asked for as CSV: that alone is the output, so that it can go into a file. */
const CsvReply = v.object({ csv: v.string(), cursor: v.optional(v.nullable(v.string())) })

const report = (io: AdminIo, spec: FunctionSpec, { json }: Command, answer: unknown): ExitCode => {
  const reply = v.safeParse(Reply, answer)
  const isAction = spec.trigger.kind === 'operator' && reply.success
  const body = isAction ? reply.output.body : answer
  if (isAction && reply.output.status >= 400) {
    io.err(json ? JSON.stringify(body, null, 2) : renderRefusal(spec.name, reply.output.status, body))
    return 1
  }
  const csv = v.safeParse(CsvReply, body)
  if (!json && csv.success) {
    io.out(csv.output.csv.trimEnd())
    if (csv.output.cursor) io.err(printable(`There is more: --cursor ${csv.output.cursor}`))
    return 0
  }
  io.out(json ? JSON.stringify(body, null, 2) : renderReply(spec.name, body))
  return 0
}

/** Work that takes no fields would ignore them: `--dry-run` would be the real run. */
const refuseFields = (name: string, payload: Command['payload']): void => {
  const [field] = Object.keys(payload)
  if (field !== undefined) throw new UsageError(`${name} takes no fields: ${field}`)
}

const carryOut = async (name: string, args: readonly string[], io: AdminIo): Promise<ExitCode> => {
  const spec = findAction(name)
  if (spec === undefined) {
    const similar = ACTIONS.filter((one) => name.split('-').some((word) => one.name.split('-').includes(word)))
    const hint = similar.length > 0 ? `; similar: ${similar.map((one) => one.name).join(', ')}` : ''
    throw new UsageError(`unknown action: ${name}${hint}`)
  }
  const described = await describedAction(spec)
  const { input } = described
  const command = parseCommand(args, input ? fieldsOf(input) : [], io.env['GATEWAY_OPERATOR'] || undefined)
  if (command.help) {
    io.out(actionHelp(spec, described))
    return 0
  }
  if (input === undefined) refuseFields(name, command.payload)
  const endpoint = endpointOf(command.stage, io.env)
  const region = endpoint === undefined ? await regionOf(io.env) : undefined
  if (endpoint === undefined && region === undefined) throw new UsageError(NO_REGION)
  const answer = await invokeFunction({
    functionName: functionName(command.stage, spec),
    payload: command.payload,
    timeoutSeconds: spec.timeoutSeconds,
    endpoint,
    region,
  })
  return report(io, spec, command, answer)
}

/**
 * The operators' tool: one action per call, on this machine or on AWS. Asks nothing back, so that it can be used in a
 * script; what was refused ends with a code other than 0.
 */
export const runAdmin = async (argv: readonly string[], given: AdminIo): Promise<ExitCode> => {
  const io = onTerminal(given)
  const [name, ...args] = argv
  try {
    if (name === undefined || name.startsWith('-')) {
      const isAsked = asksForHelp(argv)
      if (name !== undefined && !isAsked) throw new UsageError(`name the action before ${name}`)
      const help = await overallHelp()
      if (isAsked) io.out(help)
      else io.err(help)
      return isAsked ? 0 : 2
    }
    return await carryOut(name, args, io)
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`${printable(error.message)}\nnpm run admin -- --help shows the actions, <action> --help its fields.`)
      return 2
    }
    if (!(error instanceof InvocationFailed)) throw error
    io.err(printable(error.message))
    return 1
  }
}
