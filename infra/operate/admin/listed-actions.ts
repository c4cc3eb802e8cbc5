import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import type { Field } from './schema-fields.ts'

export type ActionDescription = {
  readonly summary: string
  /** Undefined for an action without input. */
  readonly fields?: readonly Field[]
  /** The rules between the fields. */
  readonly rules?: readonly string[]
  /** Takes `--file`: a call for each line, or the bank's answer to a payout file. */
  readonly takesFile?: 'lines' | 'answer'
  /** Its answer has a file, which is written into the folder of `--out`. */
  readonly writesFile?: boolean
  /** The answer has `next` if items are left. `--all` continues from `next`. */
  readonly isPaged?: boolean
  /** Takes `--dry-run`. */
  readonly hasDryRun?: boolean
}

/** What the tool knows of an action without loading its handler. */
export type ListedAction = Pick<FunctionSpec, 'name' | 'timeoutSeconds'> &
  ActionDescription & {
    /** The duty that may invoke it; scheduled work is of those who deploy. */
    readonly duty: string
    readonly isScheduled: boolean
  }

/**
 * The actions as actions.jsonl has them, a line for each. Handlers load the whole domain, which
 * takes a second. `npm test -- test/unit/admin/listed-actions.test.ts -u` writes the file.
 */
export const LISTED_ACTIONS: readonly ListedAction[] = readFileSync(
  join(import.meta.dirname, 'actions.jsonl'),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '')
  .map((line): ListedAction => JSON.parse(line))

export function actionNamed(name: string): ListedAction {
  const action = LISTED_ACTIONS.find((listed) => listed.name === name)
  if (action === undefined) throw new Error(`there is no action ${name}`)
  return action
}
