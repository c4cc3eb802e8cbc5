import { SETTLED_TRANSACTION, scriptedProvider } from '../../support/scripted-provider.ts'
import { json } from '../../support/scripted-server.ts'

/** Rows as the adapter reads them from a page: a settled payment with other fields. */
export async function readRows(...overrides: readonly object[]) {
  const page = {
    has_more: false,
    data: overrides.map((fields) => ({ ...SETTLED_TRANSACTION, ...fields })),
  }
  const answer = await (await scriptedProvider(json(200, page))).provider.listTransactions({
    limit: 10,
  })
  if (answer.kind !== 'found') throw new Error(`not found: ${answer.kind}`)
  return answer.value.transactions
}

export function shownFee(status: unknown) {
  return { fee: { xendit_fee: 4_000, status } }
}
