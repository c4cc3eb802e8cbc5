import { auditedHistory } from '../integration/audit/audited-history.ts'
import { baseOf } from '../interleavings/partial-table.ts'
import { memoryDeps } from '../support/test-deps.ts'
import { deliverNextMessage, FAILED } from '../support/webhook-builders.ts'
import { type SingleChange, singleChangesOf } from './single-changes.ts'
import type { Audited } from './sweep.ts'

/** A client that has been through everything, and all single changes of its rows. */
export async function restingClient(): Promise<
  Audited & { readonly changes: readonly SingleChange[] }
> {
  const deps = memoryDeps()
  const { client } = await auditedHistory(deps)
  await deliverNextMessage(deps)
  deps.answerWebhooks(async () => FAILED)
  await deliverNextMessage(deps)
  const items = deps.stored.items()
  const { clientId } = client
  return { deps, base: baseOf(items), clientId, changes: singleChangesOf(items) }
}
