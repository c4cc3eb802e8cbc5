import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LocalCloud, startLocalCloud } from '../../infra/local/local-cloud.ts'
import { runAdmin } from '../../infra/operate/admin/run-admin.ts'

const MAIN = join(import.meta.dirname, '../../infra/operate/admin/main.ts')

let cloud: LocalCloud
beforeAll(async () => {
  cloud = await startLocalCloud({ port: 0 })
})
afterAll(() => cloud.close())

const environment = () => ({
  // The Invoke API is on the port behind the gateway's own.
  PORT: String(Number(new URL(cloud.urls.lambda).port) - 1),
  GATEWAY_OPERATOR: 'sari@gateway.example',
})

const admin = async (...argv: string[]) => {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (text: string) => out.push(text), err: (text: string) => err.push(text), env: environment() }
  const code = await runAdmin(argv, io)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

const adminJson = async (...argv: string[]): Promise<Record<string, unknown>> => {
  const { code, out, err } = await admin(...argv, '--json')
  if (code !== 0) throw new Error(err)
  return JSON.parse(out) as Record<string, unknown>
}

const api = (path: string, key: string, body?: object) =>
  fetch(`${cloud.urls.api}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

const advance = (seconds: number) =>
  fetch(`${cloud.urls.lambda}/_local/clock`, { method: 'POST', body: JSON.stringify({ advance_seconds: seconds }) })

/** A payment made over the API and paid at the provider, whose callback never arrives. */
const paidUnheard = async (key: string): Promise<string> => {
  await fetch(`${cloud.urls.provider}/_simulator/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ target: 'callback', fault: 'lost' }),
  })
  const request = { method: 'virtual_account', channel_code: 'BNI', amount: 100_000, currency: 'IDR' }
  const { id } = (await (await api('/v1/payments', key, request)).json()) as { id: string }
  const found = await fetch(`${cloud.urls.provider}/_simulator/payment_requests?reference_id=${id}`)
  const [upstream] = (await found.json()) as { payment_request_id: string }[]
  await fetch(`${cloud.urls.provider}/v3/payment_requests/${upstream?.payment_request_id ?? ''}/simulate`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('xnd_development_local:').toString('base64')}`,
      'api-version': '2024-11-11',
      'content-type': 'application/json',
    },
    body: '{}',
  })
  return id
}

describe('npm run admin on the local gateway', () => {
  it('carries a merchant from registration to payout', async () => {
    const client = await adminJson(
      'create-client',
      '--name',
      'Warung Kopi',
      '--bank.bank_name',
      'BCA',
      '--bank.bank_account_no',
      '0012',
      '--bank.bank_account_name',
      'PT Kopi',
    )
    const clientId = String(client['client_id'])
    const { api_key: key } = await adminJson('issue-api-key', '--client-id', clientId)
    const paymentId = await paidUnheard(String(key))
    await advance(600)

    const synced = await adminJson('sync-provider-transactions')
    await advance(86_400)
    const triggered = await adminJson('trigger-settlement', '--client_id', clientId)
    const table = await admin('list-settlements', '--client_id', clientId)
    const [settlement] = triggered['settlements'] as Record<string, unknown>[]
    const paid = await adminJson(
      'mark-settlement-paid',
      '--settlement_id',
      String(settlement?.['id']),
      '--notes',
      'transfer 17',
    )
    const again = await admin('mark-settlement-paid', '--settlement_id', String(settlement?.['id']))
    const audit = await adminJson('audit-ledger', '--client_id', clientId)

    expect(synced).toMatchObject({ complete: true, transactions: 1 })
    expect(await adminJson('get-payment', '--payment_id', paymentId)).toMatchObject({
      status: 'succeeded',
      fee_status: 'actual',
    })
    expect(paid).toMatchObject({
      status: 'manual_paid',
      net_minor: 95_460,
      bank_account_no: '0012',
      notes: 'transfer 17',
    })
    expect(table.out).toMatch(/^id +client_id +status +net_minor/)
    expect(table.out).toContain('95460')
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.err).toContain('settlement cannot be marked paid in status=manual_paid')
    expect(again.err).toContain('Hint: ')
    expect(audit).toStrictEqual({ balanced: true, differences: [] })
  })

  it('shows the metadata of a payment as its merchant wrote it', async () => {
    const { client_id: clientId } = await adminJson('create-client', '--name', 'Warung Teh')
    const { api_key: key } = await adminJson('issue-api-key', String(clientId))
    const metadata = '{"b":1,"10":2,"9":{"2":1.0,"1":12345678901234567890123}}'
    const created = await fetch(`${cloud.urls.api}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(key)}`, 'content-type': 'application/json' },
      body: `{"method":"virtual_account","channel_code":"BNI","amount":100000,"currency":"IDR","metadata":${metadata}}`,
    })
    const { id } = (await created.json()) as { id: string }

    expect((await admin('get-payment', id, '--json')).out.replaceAll(/\s/g, '')).toContain(`"metadata":${metadata}`)
    expect((await admin('get-payment', id)).out).toMatch(
      /metadata\.b +1\nmetadata\.10 +2\nmetadata\.9\.2 +1\.0\nmetadata\.9\.1 +12345678901234567890123\n/,
    )
  })

  it.each(['null', '[]', '[1]', '"text"', '17', 'true'])(
    'hears from the Invoke API that %s is no payload of an action',
    async (body) => {
      const url = `${cloud.urls.lambda}/2015-03-31/functions/gateway-local-list-suspense/invocations`
      const reply = await fetch(url, { method: 'POST', body })

      expect(await reply.json()).toMatchObject({ status: 422, body: { field_errors: { body: ['must be an object'] } } })
    },
  )

  it('runs as a process: its answer on the output, its verdict in the exit code', async () => {
    const run = (...argv: string[]) =>
      promisify(execFile)(process.execPath, [MAIN, ...argv], { env: { ...process.env, ...environment() } })

    const { stdout } = await run('list-clients', '--json')
    const refused = await run('get-client', '--client_id', 'nobody').catch((error: unknown) => error)

    expect(JSON.parse(stdout)).toMatchObject({ pagination: { page: 1 } })
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'get-client was refused (404 not_found): client not found\n',
    })
  })
})
