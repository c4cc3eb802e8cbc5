import { minor } from '../../shared/money.ts'
import { applyProviderNews } from '../../shared/payment/news/apply-provider-news.ts'
import { markSettlementFailed } from '../../shared/settlement/close-settlement.ts'
import { heldMoney, recordSuspense } from '../../shared/suspense/record-suspense.ts'
import { issueKey } from './client-builders.ts'
import { aPendingPayment, aStoredClient } from './payment-builders.ts'
import { aDayLater, aSucceededPayment, sweep, withFloor } from './settlement-builders.ts'
import type { TestDeps } from './test-deps.ts'
import { storedDelivery, storedEndpoint } from './webhook-builders.ts'

/** A merchant with something of everything: what the names in `RIGHT_PAYLOADS` stand for, and the merchant's key. */
export const operatorWorld = async (deps: TestDeps) => {
  const [client, stranger] = [await withFloor(deps), await aStoredClient(deps)]
  const { key, header } = await issueKey(deps, client.clientId)
  const endpoint = await storedEndpoint(deps, { clientId: client.clientId })
  const settled = async () => {
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    const [settlement] = await sweep(deps, client)
    if (!settlement) throw new Error('nothing was settled')
    return settlement.settlementId
  }
  const [failed, settlement] = [await settled(), await settled()]
  await markSettlementFailed(deps, { settlementId: failed, operator: 'test', notes: 'refused' })
  await aSucceededPayment(deps, client)
  aDayLater(deps)
  const aPayment = () => aPendingPayment(deps, client)
  const [pending, succeeded, paid] = [await aPayment(), await aPayment(), await aPayment()]
  const providerPaymentId = deps.provider.pay(succeeded.paymentRequestId)
  await applyProviderNews(deps, { providerPaymentId }, 'callback')
  deps.provider.pay(paid.paymentRequestId)
  const ended = { status: 'abandoned', attempts: 8, nextAttemptAt: undefined, dueAt: undefined } as const
  const delivery = await storedDelivery(deps, endpoint, ended)
  const suspense = `py-held-${deps.newId()}`
  const capture = { providerPaymentId: suspense, capturedMinor: minor(5_000) }
  await recordSuspense(deps, heldMoney({ capture, cause: 'unknown_reference', payment: undefined, now: deps.now() }))
  const names: Readonly<Record<string, string>> = {
    $client: client.clientId,
    $stranger: stranger.clientId,
    $key: key.keyId,
    $endpoint: endpoint.endpointId,
    $pending: pending.paymentId,
    $succeeded: succeeded.paymentId,
    $paid: paid.paymentId,
    $delivery: delivery.deliveryId,
    $event: delivery.eventId,
    $settlement: settlement,
    $failed: failed,
    $suspense: suspense,
  }
  return { client, header, names }
}
