import { useEffect, useRef, useState } from 'preact/hooks'
import { useLoad } from '../gateway.ts'
import { Card, ReadResult } from '../parts.tsx'
import { ApprovalsCard } from './approvals-card.tsx'
import { BatchCard } from './batch-card.tsx'
import { FailedPayoutsCard } from './failed-payouts-card.tsx'
import { loadPayouts, type Payouts } from './load-payouts.ts'
import type { Payout } from './operate-shapes.ts'
import { PayoutRunCard } from './payout-run-card.tsx'
import { SuspenseCard } from './suspense-card.tsx'

/**
 * What waits for an operator, for all merchants: payouts, approvals, cases, held money and
 * findings. The address can name one part, and the page then shows that part.
 */
export function OperateView({ selectedId }: { readonly selectedId: string | undefined }) {
  const payouts = useLoad('payouts', loadPayouts)
  const box = useRef<HTMLDivElement>(null)
  const hasPayouts = payouts.value !== undefined
  useEffect(() => {
    if (selectedId !== undefined)
      box.current?.querySelector(`#operate-${CSS.escape(selectedId)}`)?.scrollIntoView()
  }, [selectedId, hasPayouts])
  return (
    <div class="stack" ref={box}>
      <p class="note">
        For the operator of all merchants. On AWS each part belongs to a duty, and approvals to a
        second person.
      </p>
      <div class="split even">
        <div id="operate-payouts">
          <ReadResult read={payouts} title="Payouts">
            {(shown) => <PayoutCards payouts={shown} />}
          </ReadResult>
        </div>
        <div>
          <ApprovalsCard payouts={payouts.value ? allOf(payouts.value) : []} />
          <SuspenseCard kind="case" />
          <SuspenseCard kind="money" />
          <SuspenseCard kind="finding" />
        </div>
      </div>
    </div>
  )
}

function allOf({ toPay, batches, failed }: Payouts): readonly Payout[] {
  return [...toPay, ...batches.flatMap(({ open }) => open), ...failed]
}

function PayoutCards({ payouts }: { readonly payouts: Payouts }) {
  const { batches, failed } = payouts
  /** It stays after the last answer, when the card of the batch disappears. */
  const [lastAnswer, setLastAnswer] = useState<string>()
  return (
    <>
      <PayoutRunCard payouts={payouts} />
      {batches.map((batch) => (
        <BatchCard key={batch.number} batch={batch} onAnswered={setLastAnswer} />
      ))}
      {lastAnswer !== undefined && (
        <Card title="The bank’s last answer">
          <p role="status">{lastAnswer}</p>
        </Card>
      )}
      {failed.length > 0 && <FailedPayoutsCard failed={failed} />}
    </>
  )
}
