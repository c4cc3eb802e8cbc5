import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { type Payment, PaymentSchema } from '../../payment/payment.ts'
import { foundKey, ownersOf, paymentKey } from '../../table/keys.ts'
import { mergedPages, shareOf } from '../../table/merged-pages.ts'
import { type Difference, differs } from '../../verdict/difference.ts'
import type { ClientBooks } from './client-books.ts'

/** Payments that are read at the same time. */
const PAGE = 500

/** A client's open payments, as they are now. A payment that was posted since the index was read is not open. */
export const auditOpenPayments = async (
  deps: StoreDeps,
  { clientId, parts }: Pick<ClientBooks, 'clientId' | 'parts'>,
): Promise<{ readonly payments: readonly Payment[]; readonly differences: readonly Difference[] }> => {
  const partitions = ownersOf(clientId, parts).map((owner) => [owner])
  const payments: Payment[] = []
  const differences: Difference[] = []
  for await (const { items: rows } of mergedPages(deps, {
    index: 'by-open',
    partitions,
    limit: shareOf(PAGE, partitions),
  })) {
    const keys = rows.map((row) => foundKey('PAYMENT', row))
    for (const [at, item] of (await deps.table.getMany(keys)).entries()) {
      const parsed = v.safeParse(PaymentSchema, item)
      const pk = keys[at]?.pk ?? ''
      if (parsed.success && paymentKey(parsed.output.paymentId).pk === pk) {
        if (parsed.output.openAt !== undefined) payments.push(parsed.output)
      } else differences.push(...differs('payment', pk.slice(pk.indexOf('#') + 1), 'readable', 'unreadable'))
    }
  }
  return { payments, differences }
}
