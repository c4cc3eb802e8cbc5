import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import type { ActionDescription } from './action.ts'

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
