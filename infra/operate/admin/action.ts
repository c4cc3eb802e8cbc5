import * as v from 'valibot'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { loadHandlers } from '../../local/functions/load-handlers.ts'
import type { ListedAction } from './listed-actions.ts'
import { fieldsOf, rulesOf } from './schema-fields.ts'

/** Functions of queues take messages, which no operator writes by hand. */
export const ACTIONS: readonly FunctionSpec[] = (['operator', 'schedule'] as const).flatMap(
  (kind) => MANIFEST.filter(({ trigger }) => trigger.kind === kind),
)

/** `input` is the schema that the handler parses with; undefined without fields. */
const DescriptionSchema = v.object({
  summary: v.string(),
  input: v.optional(v.custom<v.GenericSchema>(isSchema)),
  hasDryRun: v.optional(v.boolean(), false),
})

export async function describeAction(spec: FunctionSpec): Promise<ListedAction> {
  const { name, timeoutSeconds, trigger } = spec
  const [handler] = await loadHandlers([spec])
  const { summary, input, hasDryRun } = v.parse(DescriptionSchema, handler?.described)
  return {
    name,
    duty: trigger.kind === 'operator' ? trigger.duty : 'deploy',
    isScheduled: trigger.kind !== 'operator',
    timeoutSeconds,
    summary,
    ...(input && { fields: fieldsOf(input), rules: rulesOf(input) }),
    ...(name === 'approve' && { takesFile: 'lines' as const }),
    ...(name === 'payout-answer' && { takesFile: 'answer' as const }),
    ...(name === 'payout-file' && { writesFile: true }),
    ...(name === 'redeliver' && { isPaged: true }),
    ...(hasDryRun && { hasDryRun }),
  }
}

function isSchema(value: unknown) {
  return v.is(v.object({ kind: v.literal('schema') }), value)
}
