import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import writeXlsxFile from 'write-excel-file/node'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { findAnySettlement } from '../../shared/settlement/settlement-store.ts'
import { cli } from './admin-command.ts'
import { aWaitingSettlement } from './batch-builders.ts'
import { handlerOf, lambdaContext } from './operator-actions.ts'
import { json, type Script } from './scripted-server.ts'
import { BANK } from './settlement-builders.ts'
import { tempDirectory } from './temp-directory.ts'
import { memoryDeps, type TestDeps } from './test-deps.ts'

export function served(deps: TestDeps): Script {
  return (response, request) => {
    const [, action = ''] = /local-(.+)\//.exec(request.url) ?? []
    const answer = handlerOf(action).then(({ withDeps }) =>
      withDeps(deps)(JSON.parse(request.body), lambdaContext('action')),
    )
    void answer.then((body) => json(200, body)(response, request))
  }
}

export async function aBatch(count = 2) {
  const deps = memoryDeps()
  const settlements: Settlement[] = []
  for (let at = 0; at < count; at++) {
    const bank = { ...BANK, bankAccountNo: `00${12_345_678 + at}` }
    settlements.push(await aWaitingSettlement(deps, { bank }))
  }
  const tool = await cli(served(deps), { GATEWAY_OPERATOR: 'sari' })
  const folder = tempDirectory()
  await tool.run('payout-file', '--format', 'csv', '--out', folder)
  const answer = async (content: string | Uint8Array, name = 'answer.csv') => {
    writeFileSync(join(folder, name), content)
    return tool.run('payout-answer', '--file', join(folder, name))
  }
  const stored = () =>
    Promise.all(settlements.map(({ settlementId }) => findAnySettlement(deps, settlementId)))
  const states = async () =>
    (await stored()).map(({ status, bankReference = null }) => [status, bankReference])
  return { deps, settlements, tool, folder, answer, states }
}

export type Batch = Awaited<ReturnType<typeof aBatch>>

export const OWN_HEAD = [
  'settlement_id',
  'amount',
  'bank_account_no',
  'status',
  'bank_reference',
  'reason',
]

export function ownRows({ settlements }: Batch, more: object = {}) {
  const lines = settlements.map(({ settlementId, netMinor, bank }, at) => ({
    settlement_id: settlementId,
    amount: String(netMinor),
    bank_account_no: bank?.bankAccountNo ?? '',
    status: 'paid',
    bank_reference: `TRX-${at + 1}`,
    reason: '',
    ...more,
  }))
  return [OWN_HEAD, ...lines.map((line) => Object.values(line))]
}

export function text(rows: readonly (readonly string[])[], separator = ',') {
  return rows.map((cells) => `${cells.map((cell) => `"${cell}"`).join(separator)}\r\n`).join('')
}

export function xlsx(rows: readonly (readonly (string | number | Date)[])[]) {
  return writeXlsxFile(
    rows.map((row) => [...row]),
    { dateFormat: 'yyyy-mm-dd' },
  ).toBuffer()
}

export function utf16(content: string, order: 'le' | 'be', mark = '\ufeff') {
  const bytes = Buffer.from(mark + content, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

export function bankRows({ settlements }: Batch) {
  return [
    ['Laporan Transaksi'],
    ['Periode', '20/11/2026'],
    [],
    ['No', 'Rekening Tujuan', 'Nominal', 'Berita', 'Status', 'Reference'],
    ...settlements.map(({ settlementId, netMinor, bank }, at) => [
      String(at + 1),
      String(bank?.bankAccountNo).replace('00', '00-'),
      `Rp${netMinor.toLocaleString('id-ID')},00`,
      `PAYOUT ${settlementId.toUpperCase()} GATEWAY`,
      "'BERHASIL",
      `TRX-${at + 1}`,
    ]),
    [],
    ['', 'TOTAL', 'Rp191.800,00', '', '', ''],
  ]
}

export function providerRows({ settlements }: Batch) {
  return [
    ['Status', 'Type', 'Channel', 'Account Number', 'Amount', 'Reference', 'Transaction ID'],
    ['SUCCESS', 'PAYMENT', 'QR_CODE', '12345678', '10000', 'order-1', 'txn_0'],
    ...settlements.map(({ settlementId, netMinor, bank }, at) => [
      'SUCCESS',
      'BATCH_DISBURSEMENT',
      'BANK',
      bank?.bankAccountNo ?? '',
      `${netMinor}.00`,
      settlementId,
      `TRX-${at + 1}`,
    ]),
  ]
}
