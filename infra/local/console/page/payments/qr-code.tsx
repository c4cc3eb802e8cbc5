import qrcode from 'qrcode-generator'

/** The light margin in modules. Cameras need it to find the code. */
const QUIET = 4

/** The text as a QR code. It is dark on light in both themes, because scanners need that. */
export const QrCode = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  const count = code.getModuleCount()
  const size = count + 2 * QUIET
  const rows = Array.from({ length: count }, (_, row) => row)
  const dark = rows
    .flatMap((row) => rows.filter((column) => code.isDark(row, column)).map((column) => [column + QUIET, row + QUIET]))
    .map(([x, y]) => `M${x} ${y}h1v1h-1z`)
    .join('')
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark} fill="#000" />
    </svg>
  )
}
