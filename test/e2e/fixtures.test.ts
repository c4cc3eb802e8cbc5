import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startLocalCloud } from '../../infra/local/local-cloud.ts'
import { ownPorts } from '../support/own-ports.ts'
import { runTool } from '../support/run-tool.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { worldAt } from './gateway-world.ts'

/*
 * Goal: a month of a file happens on the gateway, to the rupiah, and a wrong file changes nothing.
 */

const HEAD = 'day,merchant,step,order,channel,amount'

async function play(port: number, ...lines: readonly string[]) {
  const file = join(tempDirectory(), 'month.csv')
  writeFileSync(file, [HEAD, ...lines].join('\n'))
  const main = join(PROJECT_ROOT, 'infra/operate/fixtures/main.ts')
  return runTool(process.execPath, [main, file], { env: { PORT: String(port) } })
}

// The command takes a row of four ports.
const port = await ownPorts()
const cloud = await startLocalCloud({ port, table: 'memory' })
afterAll(() => cloud.close())

it('plays nothing of a file with a wrong line', async () => {
  const { code, output, errors } = await play(port, '1,Kopi,merchant,,,', '1,Kopi,pay,a,QRIS,1')

  expect({ code, output }).toStrictEqual({ code: 2, output: '' })
  expect(errors).toMatch(/^line 3: step is one of .*\n.*nothing was played\n$/)
  const { data } = (await worldAt(cloud.urls).admin('list-clients')).body
  // The demo merchant alone.
  expect(data).toHaveLength(1)
})

it('plays merchants, payments, failures, refunds, disputes and payouts', async () => {
  const { code, output, errors } = await play(
    port,
    '1,Kopi,merchant,,,',
    '1,Kopi,payment,a,BNI,100000',
    '1,Kopi,payment,b,QRIS,200000',
    '1,Kopi,failed,c,DANA,50000',
    '1,Kopi,cancelled,d,QRIS,50000',
    '1,Kopi,unpaid,e,QRIS,50000',
    '6,Kopi,payout,,,',
    '7,Kopi,refund,a,,10000',
    '7,Kopi,dispute,b,,',
    '9,Kopi,dispute-won,b,,',
    '12,Kopi,payout,,,',
  )

  expect({ code, errors }).toStrictEqual({ code: 0, errors: '' })
  const [, key = ''] = /Kopi: client \S+, key (\S+)/.exec(output) ?? []
  const { get } = worldAt(cloud.urls).withKey(key)
  const listed = (await get('/v1/payments')).body['data'] as Record<string, unknown>[]
  const statuses = listed.map((payment) => [payment['external_reference'], payment['status']])
  expect(Object.fromEntries(statuses)).toStrictEqual({
    a: 'succeeded',
    b: 'succeeded',
    c: 'failed',
    d: 'cancelled',
    // Its two days passed.
    e: 'expired',
  })
  // The nets of a and b, less the refund; the dispute was won.
  const { body: balance } = await get('/v1/balance?include=settlements')
  const nets = listed.filter(({ status }) => status === 'succeeded')
  const sum = nets.reduce((total, payment) => total + Number(payment['client_net_minor']), 0)
  const parts = ['pending', 'available', 'in_settlement', 'paid_out'].map((name) =>
    Number(balance[`${name}_minor`]),
  )
  expect(parts.reduce((total, part) => total + part, 0)).toBe(sum - 10_000)
  expect(balance['paid_out_minor']).toBeGreaterThan(0)
  const entries = (await get('/v1/balance/entries')).body['data'] as Record<string, unknown>[]
  expect(entries.map(({ type }) => String(type)).toSorted()).toStrictEqual(
    ['chargeback', 'dispute_won', 'payment', 'payment', 'refund'].toSorted(),
  )
})

it('ends at the line that the gateway refuses', async () => {
  const { code, errors } = await play(
    port,
    '1,Kopi,merchant,,,',
    '1,Kopi,payment,a,BCA,5000',
    '1,Kopi,payment,b,BCA,50000',
  )

  expect(code).toBe(1)
  expect(errors).toMatch(/^line 3: payment: .*10,?000.*\nThe lines below were not played\.\n$/)
})

it('says that no gateway runs', async () => {
  const { code, errors } = await play(await ownPorts(), '1,Kopi,merchant,,,')

  expect(code).toBe(1)
  expect(errors).toContain('start one with npm start')
})
