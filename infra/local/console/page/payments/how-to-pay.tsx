import qrcode from 'qrcode-generator'
import { CopyButton } from '../action-button.tsx'
import { jakartaMinute, utcTime } from '../jakarta.ts'
import type { Timeline } from '../shapes.ts'

/** The size of a module in pixels, and the light margin, which cameras need to find the code. */
const [MODULE, MARGIN] = [4, 16]

/**
 * The text that a shop shows its customer: a number, a QR code or a link. Empty if the wallet asks
 * on the phone.
 */
export function HowToPay({ payment }: { readonly payment: Timeline }) {
  const { method, payment_destination: destination, expires_at: deadline } = payment
  return (
    <div class="pay">
      {method === 'qris' && <QrCode text={destination} label="QR code of this payment" />}
      <div>
        <PaymentInstructions payment={payment} />
        {deadline && (
          <p class="note">
            The customer can pay until{' '}
            <time dateTime={deadline} title={utcTime(deadline)}>
              {jakartaMinute(deadline)}
            </time>
            .
          </p>
        )}
      </div>
    </div>
  )
}

/** The text as a QR code. It is dark on light in both themes, because scanners need that. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  return <img class="qr" alt={label} src={code.createDataURL(MODULE, MARGIN)} />
}

function PaymentInstructions({ payment }: { readonly payment: Timeline }) {
  const { method, channel_code: code, payment_destination: destination } = payment
  if (destination === '')
    return <p>The shop shows nothing: {code} asks the customer on the phone.</p>
  if (method === 'qris') return <QrInstructions text={destination} />
  // No other text may become a link.
  if (/^https?:\/\//.test(destination)) return <LinkInstructions link={destination} />
  return <TransferInstructions account={destination} bank={code ?? method} />
}

function QrInstructions({ text }: { readonly text: string }) {
  return (
    <>
      <p>The customer scans the code with the app of a bank or a wallet.</p>
      <p>
        <code class="long">{text}</code> <CopyButton noun="QR text" text={text} />
      </p>
    </>
  )
}

function LinkInstructions({ link }: { readonly link: string }) {
  return (
    <>
      <p>The shop sends the customer to the wallet’s page:</p>
      <p>
        <a href={link} target="_blank" rel="noreferrer">
          Open the checkout
        </a>{' '}
        <CopyButton noun="checkout link" text={link} />
      </p>
    </>
  )
}

function TransferInstructions({
  account,
  bank,
}: {
  readonly account: string
  readonly bank: string
}) {
  return (
    <>
      <p>The customer transfers to this account at {bank}:</p>
      <p class="account">
        <output aria-label="Account number">{groupedByFour(account)}</output>{' '}
        <CopyButton noun="account number" text={account} />
      </p>
    </>
  )
}

function groupedByFour(digits: string): string {
  return digits.replaceAll(/(.{4})(?=.)/g, '$1 ')
}
