import qrcode from 'qrcode-generator'
import { CopyButton } from '../action-button.tsx'
import type { Timeline } from '../shapes.ts'

/** The size of a module in pixels, and the light margin, which cameras need to find the code. */
const [MODULE, MARGIN] = [4, 16]

/** The text as a QR code. It is dark on light in both themes, because scanners need that. */
const QrCode = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  return <img class="qr" alt={label} src={code.createDataURL(MODULE, MARGIN)} />
}

const inFours = (digits: string): string => digits.replaceAll(/(.{4})(?=.)/g, '$1 ')

const Scanned = ({ text }: { readonly text: string }) => (
  <>
    <p>The customer scans it with a bank’s or a wallet’s app.</p>
    <p>
      <code class="long">{text}</code> <CopyButton what="QR text" text={text} />
    </p>
  </>
)

const Visited = ({ link }: { readonly link: string }) => (
  <>
    <p>The customer is sent to the wallet’s page:</p>
    <p>
      <a href={link} target="_blank" rel="noreferrer">
        Open the checkout
      </a>{' '}
      <CopyButton what="checkout link" text={link} />
    </p>
  </>
)

const Transferred = ({ to, bank }: { readonly to: string; readonly bank: string }) => (
  <>
    <p>The customer transfers to this account at {bank}:</p>
    <p class="account">
      <output aria-label="Account number">{inFours(to)}</output> <CopyButton what="account number" text={to} />
    </p>
  </>
)

const Way = ({ payment }: { readonly payment: Timeline }) => {
  const { method, channel_code: code, payment_destination: destination } = payment
  if (destination === '') return <p>{code} asks the customer on the phone; there is nothing to show.</p>
  if (method === 'qris') return <Scanned text={destination} />
  // No other text may become a link.
  if (/^https?:\/\//.test(destination)) return <Visited link={destination} />
  return <Transferred to={destination} bank={code ?? method} />
}

/** What a shop shows its customer: a number, a QR code, a link, or nothing if the wallet asks on the phone. */
export const HowToPay = ({ payment }: { readonly payment: Timeline }) => {
  const { method, payment_destination: destination, expires_at: until } = payment
  return (
    <div class="pay">
      {method === 'qris' && <QrCode text={destination} label="QR code with which this payment is paid" />}
      <div>
        <Way payment={payment} />
        {until && <p class="note">To be paid until {until.slice(0, 16).replace('T', ' ')} UTC.</p>}
      </div>
    </div>
  )
}
