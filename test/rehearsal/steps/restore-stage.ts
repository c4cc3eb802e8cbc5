import * as dynamodb from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { REGION } from '../emulator.ts'
import { type Merchant, type Payment, PaymentSchema } from '../merchant.ts'
import { expect, OPERATOR, type Rehearsal, STACK } from '../rehearsal.ts'
import { releaseOf } from '../release.ts'
import { advance, syncCompletely } from './take-payments.ts'

const TableName = STACK
export const RESTORED = `${STACK}-2`

/** Restores a damaged table by the steps of docs/operations.md, section 7. */
export async function restoreStage(
  rehearsal: Rehearsal,
  merchant: Merchant,
  paid: Payment,
): Promise<true> {
  const { step, eventually } = rehearsal
  const before = await step('restore: there is a payment, and a backup of the table', async () => {
    const payment = await merchant.create('order-6')
    const good = new Date(Date.now() + rehearsal.clock.offsetSeconds() * 1_000).toISOString()
    const backup = new dynamodb.CreateBackupCommand({ TableName, BackupName: 'good' })
    const { BackupDetails: { BackupArn: kept = '' } = {} } = await client().send(backup)
    expect(kept !== '', `there is no backup of ${TableName}`)
    return {
      payment,
      key: { pk: { S: `PAYMENT#${payment.id}` }, sk: { S: 'PAYMENT' } },
      kept,
      good,
    }
  })
  const closed = await step(
    'restore: its row is lost, and the stage is deployed closed',
    async () => {
      advance(rehearsal, 60)
      await client().send(new dynamodb.DeleteItemCommand({ TableName, Key: before.key }))
      const release = releaseOf(rehearsal, 'closed-release', { role: 'closed' })
      await rehearsal.deploy(release)
      const refused = v.object({ code: v.literal('internal_error'), action_hint: v.string() })
      await merchant.post(refused, 'payments', {}, {}, 500)
      return release
    },
  )
  await step('npm run restore makes the next table, as of the last good second', async () => {
    await rehearsal.npm(['restore', '--at', before.good], { cwd: closed })
    const { Item: row } = await client().send(
      new dynamodb.GetItemCommand({ TableName: RESTORED, Key: before.key }),
    )
    if (row !== undefined) return
    rehearsal.cannot(
      'a restore to a point in time brings what is there now; a backup made before was ' +
        'restored instead',
    )
    await client().send(
      new dynamodb.UpdateTableCommand({ TableName: RESTORED, DeletionProtectionEnabled: false }),
    )
    await client().send(new dynamodb.DeleteTableCommand({ TableName: RESTORED }))
    await rehearsal.npm(['restore', '--backup', before.kept], { cwd: closed })
  })
  const tearAndRecount = async () => {
    // As if the restore had not brought the event of a payment back.
    const Key = { pk: { S: `EVENT#payment#${paid.id}` }, sk: { S: 'payment.succeeded' } }
    await client().send(new dynamodb.DeleteItemCommand({ TableName: RESTORED, Key }))
    await rehearsal.deploy(
      releaseOf(rehearsal, 'closed-restored', { role: 'closed', table: { generation: 2 } }),
    )
    await recount(rehearsal, merchant)
  }
  await step('a torn row of it is recounted while the stage is closed', tearAndRecount)
  const open = async () => {
    await rehearsal.deploy(releaseOf(rehearsal, 'restored-release', { table: { generation: 2 } }))
    await syncCompletely(rehearsal)
    const { status } = await merchant.get(PaymentSchema, `payments/${before.payment.id}`)
    expect(status === 'pending', `the payment is ${status}`)
    await merchant.pay(before.payment)
    await eventually('a webhook', async () => (await merchant.webhooksOf(before.payment))[0])
  }
  await step('the stage is deployed open on it, and what is paid is announced', open)
  return true
}

function client() {
  return awsClients(REGION).dynamodb
}

/** Recounts the torn row: step 5 of that section. */
async function recount({ admin }: Rehearsal, { clientId }: Pick<Merchant, 'clientId'>) {
  const schema = v.object({ balanced: v.boolean(), differences: v.array(v.unknown()) })
  const audit = async () => v.parse(schema, await admin('audit-ledger', { client_id: clientId }))
  const { differences } = await audit()
  expect(differences.length > 0, 'the audit does not find the torn row')
  const by = { operator: OPERATOR, client_id: clientId }
  const { plan } = v.parse(v.object({ plan: v.string() }), await admin('recount-ledger', by))
  await admin('recount-ledger', { ...by, plan })
  expect((await audit()).balanced, 'the books do not balance after the recount')
}
