import { useEffect, useState } from 'preact/hooks'
import writeXlsxFile from 'write-excel-file/browser'
import { countOf, rupiah } from '../../activity/activity-line.ts'
import { cellsOf, type Payout, type PayoutFile } from './operate-shapes.ts'

export function payoutsText(payouts: readonly Pick<Payout, 'net_minor'>[]) {
  const sum = payouts.reduce((total, { net_minor: net }) => total + net, 0)
  return `${countOf(payouts.length, 'payout')}, ${rupiah(sum)}`
}

export function PayoutFacts({ payout }: { readonly payout: Payout }) {
  const { bank_name: bank, bank_account_no: account, bank_account_name: holder } = payout
  return (
    <>
      <p class="line">
        <strong>{rupiah(payout.net_minor)}</strong>
        {account === null ? (
          <span class="status bad">no bank details</span>
        ) : (
          <span>
            {bank} {account} · {holder}
          </span>
        )}
      </p>
      <p class="muted small">
        Settlement <code>{payout.id}</code> of merchant <code>{payout.client_id}</code>,{' '}
        {countOf(payout.payment_count, 'payment')}
      </p>
    </>
  )
}

export const FORMATS = [
  ['xlsx', 'Spreadsheet to fill in (xlsx)'],
  ['csv', 'For programs (csv)'],
  ['provider', 'The provider’s template (xlsx)'],
] as const

/** The file never leaves this machine. */
export function PayoutDownload({ file }: { readonly file: PayoutFile }) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const state = { hasEnded: false, url: '' }
    void blobOf(file).then((blob) => {
      if (state.hasEnded) return
      state.url = URL.createObjectURL(blob)
      setUrl(state.url)
    })
    return () => {
      state.hasEnded = true
      URL.revokeObjectURL(state.url)
    }
  }, [file])
  return url === undefined ? null : (
    <a href={url} download={file.name}>
      Save {file.name}
    </a>
  )
}

async function blobOf(file: PayoutFile) {
  if ('text' in file) return new Blob([file.text], { type: 'text/csv' })
  return writeXlsxFile(cellsOf(file), { sheet: 'Payouts' }).toBlob()
}
