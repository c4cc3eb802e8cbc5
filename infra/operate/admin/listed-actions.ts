import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import type { Field } from './schema-fields.ts'

export type ActionDescription = {
  readonly summary: string
  readonly fields?: readonly Field[]
  readonly rules?: readonly string[]
  /** Takes `--file`: a call for each line, or the bank's answer to a payout file. */
  readonly takesFile?: 'lines' | 'answer'
  /** The folder of `--out` gets a file. */
  readonly writesFile?: boolean
  /** The answer has `next` if items are left. `--all` continues from `next`. */
  readonly isPaged?: boolean
  readonly hasDryRun?: boolean
}

/** What the tool knows of an action without loading its handler. */
export type ListedAction = Pick<FunctionSpec, 'name' | 'timeoutSeconds'> &
  ActionDescription & {
    /** Scheduled work is of those who deploy. */
    readonly duty: string
    readonly isScheduled: boolean
  }

/**
 * `npm test -- test/unit/admin/listed-actions.test.ts -u` writes actions.jsonl. To load the
 * handlers instead would take a second.
 */
export const LISTED_ACTIONS: readonly ListedAction[] = readFileSync(
  join(import.meta.dirname, 'actions.jsonl'),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '')
  .map((line): ListedAction => JSON.parse(line))

export function actionNamed(name: string) {
  const action = LISTED_ACTIONS.find((listed) => listed.name === name)
  if (action === undefined) throw new Error(`there is no action ${name}`)
  return action
}
