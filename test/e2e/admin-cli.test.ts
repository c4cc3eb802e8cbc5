import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { runAdmin } from '../../infra/operate/admin/run-admin.ts'
import { VA, type World, worldIt } from './gateway-world.ts'

const MAIN = join(import.meta.dirname, '../../infra/operate/admin/main.ts')

const environment = ({ urls }: World) => ({
  // The Invoke API is on the port behind the gateway's own.
  PORT: String(Number(new URL(urls.lambda).port) - 1),
  GATEWAY_OPERATOR: 'sari@gateway.example',
})

/** Runs one command line, words apart by spaces. */
const it = worldIt.extend('admin', ({ world }) => async (line: string) => {
  const out: string[] = []
  const err: string[] = []
  const io = {
    out: (text: string) => out.push(text),
    err: (text: string) => err.push(text),
    env: environment(world),
  }
  const code = await runAdmin(line.split(' '), io)
  const answer = () => {
    if (code !== 0) throw new Error(err.join('\n'))
    return JSON.parse(out.join('\n')) as Record<string, unknown>
  }
  return { code, out: out.join('\n'), err: err.join('\n'), answer }
})

describe('npm run admin on the local gateway', () => {
  it('carries a merchant from registration to payout', async ({ world, admin }) => {
    const json = async (line: string) => (await admin(`${line} --json`)).answer()
    const bank = '--bank.bank_name BCA --bank.bank_account_no 0012 --bank.bank_account_name PT-Kopi'
    const { client_id: clientId } = await json(`create-client --name Warung-Kopi ${bank}`)
    const { api_key: key } = await json(`issue-api-key --client-id ${String(clientId)}`)
    const { body: created } = await world.withKey(String(key)).create({ ...VA, channel_code: 'BNI' })
    await world.fault('callback', 'lost')
    await world.pay(String(created['id']))
    await world.advance(600)

    const synced = await json('sync-provider-transactions')
    await world.advance(86_400)
    const triggered = await json(`trigger-settlement ${String(clientId)}`)
    const table = await admin(`list-settlements ${String(clientId)}`)
    const [settlement] = triggered['settlements'] as { id: string }[]
    const paid = await json(`mark-settlement-paid ${settlement?.id} --notes transfer-17`)
    const again = await admin(`mark-settlement-paid --settlement_id ${settlement?.id}`)
    const audit = await json(`audit-ledger --client_id ${String(clientId)}`)

    const settled = { status: 'manual_paid', net_minor: 95_460, bank_account_no: '0012', notes: 'transfer-17' }
    expect(synced).toMatchObject({ complete: true, transactions: 1 })
    expect(await json(`get-payment ${String(created['id'])}`)).toMatchObject({
      status: 'succeeded',
      fee_status: 'actual',
    })
    expect(paid).toMatchObject(settled)
    expect(table.out).toMatch(/^id +client_id +status +net_minor/)
    expect(table.out).toContain('95460')
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.err).toContain('settlement cannot be marked paid in status=manual_paid')
    expect(again.err).toContain('Hint: ')
    expect(audit).toStrictEqual({ balanced: true, differences: [] })
  })

  it('runs as a process: its answer on the output, its verdict in the exit code', async ({ world }) => {
    const env = { ...process.env, ...environment(world) }
    const run = (...argv: string[]) => promisify(execFile)(process.execPath, [MAIN, ...argv], { env })

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
