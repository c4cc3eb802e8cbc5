import { useEffect, useState } from 'preact/hooks'
import writeXlsxFile from 'write-excel-file/browser'
import type { PayoutFile } from './operate-shapes.ts'

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

/** Only numbers are no text, also in cells that a person fills in later. */
async function blobOf(file: PayoutFile): Promise<Blob> {
  if ('text' in file) return new Blob([file.text], { type: 'text/csv' })
  const cells = file.rows.map((row) =>
    row.map((value) =>
      typeof value === 'number' ? value : { value, type: String, format: '@' as const },
    ),
  )
  return writeXlsxFile(cells, { sheet: 'Payouts' }).toBlob()
}
