import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { ACTIONS, type Described, describedAction, firstSentence } from './action.ts'
import { positionalField } from './parse-command.ts'
import { type Field, fieldsOf, rulesBetweenFields } from './schema-fields.ts'
import { alignedRows } from './text-table.ts'

const USAGE = 'npm run admin -- <action> [ID] [--field value]… [--stage NAME] [--json]'

const OPTIONS = alignedRows([
  ['--stage NAME', 'where: local (the default) on this machine, else a stage on AWS, with your AWS credentials'],
  ['--json', 'prints the answer as JSON, with all that a table leaves out'],
  ['--payload JSON', 'the whole input at once, instead of fields'],
  ['--help, -h', 'behind an action: its fields'],
])

const EXIT_CODES = 'Exit code: 0 done, 1 refused or failed, 2 called wrongly.'

const GROUPS: readonly (readonly [string, FunctionSpec['trigger']['kind']])[] = [
  ['Actions', 'operator'],
  ['Scheduled work, started now', 'schedule'],
]

/** `--help` without an action: everything there is to do, a line each. */
export const overallHelp = async (): Promise<string> => {
  const lines = await Promise.all(
    ACTIONS.map(async (spec) => ({ spec, summary: firstSentence((await describedAction(spec)).summary) })),
  )
  const groups = GROUPS.flatMap(([title, kind]) => {
    const rows = lines.filter(({ spec }) => spec.trigger.kind === kind).map(({ spec, summary }) => [spec.name, summary])
    return rows.length === 0 ? [] : [`${title}\n${alignedRows(rows)}`]
  })
  const environment = alignedRows([
    ['GATEWAY_OPERATOR', 'who asks, where an action wants an --operator and none is given'],
    ['PORT', 'of the local gateway, 3000 by default'],
    ['AWS_REGION, AWS_PROFILE', 'where a stage on AWS is, and as whom you ask'],
  ])
  return [USAGE, ...groups, `Options\n${OPTIONS}`, `Environment\n${environment}`, EXIT_CODES].join('\n\n')
}

const need = ({ required, withOthers, byDefault }: Field): string => {
  if (required) return 'required'
  if (withOthers) return 'with the others'
  return byDefault === undefined ? '' : `default ${byDefault}`
}

const describe = (field: Field): readonly string[] => {
  const { type, nullable, rules } = field
  const typeText = type === 'null' ? 'null clears it' : nullable ? `${type}, or null to clear it` : type
  return [typeText, need(field), rules.join('; ')]
}

/** `<action> --help`: its fields, from the schema it parses them with. */
export const actionHelp = (spec: FunctionSpec, { summary, input }: Described): string => {
  const fields = input ? fieldsOf(input) : []
  const rules = input ? rulesBetweenFields(input) : []
  const id = positionalField(fields)
  const idText = id === undefined ? '' : ` [${id.name.toUpperCase()}]`
  const usage = `npm run admin -- ${spec.name}${idText}${fields.length > 0 ? ' [--field value]…' : ''} [--stage NAME] [--json]`
  const rows = fields.map((field) => [`--${field.name}`, ...describe(field)])
  return [
    usage,
    summary,
    ...(fields.length > 0 ? [`Fields\n${alignedRows(rows)}`] : []),
    ...(rules.length > 0 ? [rules.map((rule) => `Together: ${rule}.`).join('\n')] : []),
    ...(fields.some(({ kind }) => kind === 'list') ? ['Lists: repeat the field, or separate with commas.'] : []),
    EXIT_CODES,
  ].join('\n\n')
}
