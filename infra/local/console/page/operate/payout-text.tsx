import { countOf, rupiah } from '../../activity/activity-line.ts'
import type { Payout } from './operate-shapes.ts'

export function payoutsText(payouts: readonly Pick<Payout, 'net_minor'>[]): string {
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
