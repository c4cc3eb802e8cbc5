/**
 * Goal: the findings of a payout are counted in bounded memory, however many refunds its client
 * ever had, and as their ids name them. Method: the register of suspense has several pages of
 * booked movements, and a finding on the first and on the last page; rows of it are changed.
 */
import { expect, it } from 'vitest'
import { auditGateway } from '../../../shared/audit/audit-gateway.ts'
import { countFindings } from '../../../shared/payout/count-findings.ts'
import { finding, movedMoney } from '../../../shared/suspense/record-suspense.ts'
import { noteSuspense } from '../../../shared/suspense/suspense-store.ts'
import { notedKey, suspenseKey } from '../../../shared/table/keys.ts'
import { readClientVerdict } from '../../../shared/verdict/client-verdict-store.ts'
import { aFinding, aRefund } from '../../support/money-rows.ts'
import { anOpenPayment, aSucceededPayment, post } from '../../support/paid-builders.ts'
import {
  aLoneClient,
  fail,
  recredit,
  sweptADayLater,
  withoutFloor,
  withoutSleep,
} from '../../support/settlement-builders.ts'
import { alter, putRaw, rawItem } from '../../support/tampering.ts'
import { memoryDeps, recordTable } from '../../support/test-deps.ts'

const MOVEMENTS = 2_001

it('each page of the register is counted before the next page is read', async () => {
  const made = memoryDeps()
  const client = await withoutFloor(made)
  const payment = await anOpenPayment(made, client)
  await post(made, payment)
  const settlement = await sweptADayLater(made, client)
  const now = made.now()
  for (let at = 0; at < MOVEMENTS; at++) {
    const refunded = { paymentId: crypto.randomUUID(), clientId: client.clientId }
    const row = { ...aRefund(made, 1_000), transactionId: `txn-${at}` }
    await made.table.write(noteSuspense(movedMoney(refunded, row, row.amountMinor, now)))
  }
  for (const subject of ['first', 'txn-999999'])
    await made.table.write(noteSuspense(finding({ subject, cause: 'fee_changed', payment, now })))
  const { deps, calls } = recordTable(made)

  expect(await countFindings(deps, settlement)).toBe(2)

  expect(calls.map(({ name }) => name)).toStrictEqual(['query', 'get', 'query', 'query', 'get'])
})

it('a finding about a payment counts, whatever its row and its register say', async () => {
  const { deps, client } = await aLoneClient()
  const payment = await aSucceededPayment(deps, client)
  const settlement = await sweptADayLater(deps, client)
  const about = { subject: payment.paymentId, payment }
  const item = await aFinding(deps, { cause: 'amount_differs', ...about })
  const counts: number[] = []
  for (const changes of [
    { payment_id: crypto.randomUUID() },
    { payment_id: undefined },
    { cause: 'fee_assumed' },
    { kind: 'money' },
  ]) {
    const changed = { ...(await rawItem(deps, notedKey(item))), ...changes }
    await putRaw(deps, changed)
    counts.push(await countFindings(deps, settlement))
  }

  expect(counts).toStrictEqual([1, 1, 1, 1])
})

it('a finding of a row counts if its payment is missing', async () => {
  const { deps, client } = await aLoneClient()
  const payment = await aSucceededPayment(deps, client)
  const settlement = await sweptADayLater(deps, client)
  const other = { ...payment, paymentId: crypto.randomUUID() }
  await aFinding(deps, { cause: 'row_contradicts', payment: other })

  expect(await countFindings(deps, settlement)).toBe(1)
})

it('a finding of a payment counts that two re-credits in turn have carried on', async () => {
  const { deps, client } = await aLoneClient()
  const failAgain = async () => {
    const failed = await sweptADayLater(deps, client)
    await fail(deps, failed)
    return failed
  }
  const payment = await aSucceededPayment(deps, client)
  const first = await failAgain()
  await aSucceededPayment(deps, client)
  const second = await failAgain()
  for (const failed of [first, second]) await recredit(deps, failed)
  await recredit(deps, await failAgain())
  const settlement = await sweptADayLater(deps, client)
  await aFinding(deps, { cause: 'amount_differs', subject: payment.paymentId, payment })

  expect(await countFindings(deps, settlement)).toBe(1)
})

it('the gateway’s audit names a finding that names another payment than its id', async () => {
  const { deps, client } = await aLoneClient()
  const payment = await aSucceededPayment(deps, client)
  const { paymentId: subject } = payment
  const item = await aFinding(deps, { subject, cause: 'amount_differs', payment })
  for (const key of [suspenseKey(item.suspenseId), notedKey(item)])
    await alter(deps, key, { payment_id: crypto.randomUUID() })

  await auditGateway(withoutSleep(deps))

  const { standing } = await readClientVerdict(deps, client.clientId)
  const named = { what: 'suspense.payment_id', id: item.suspenseId, expected: subject }
  expect(standing).toContainEqual(expect.objectContaining(named))
})
