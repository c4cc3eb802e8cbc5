import { useState } from 'preact/hooks'
import { rupiah } from '../../activity/activity-line.ts'
import { ActionForm } from '../action-button.tsx'
import { commandIn, rememberCommand } from '../approvals.ts'
import { doCall, operate } from '../gateway.ts'
import { withJakartaTimes } from '../jakarta.ts'
import { Card, Rows, SelectField } from '../parts.tsx'
import type { Answer } from '../shapes.ts'
import type { Payouts } from './load-payouts.ts'
import { allRuns, type LeftOut, type Payout, type PayoutRun } from './operate-shapes.ts'
import { FORMATS, PayoutDownload, PayoutFacts, payoutsText } from './payout-text.tsx'

export function PayoutRunCard({ payouts }: { readonly payouts: Payouts }) {
  const { toPay, batches, isWhole } = payouts
  const [refused, setRefused] = useState<string>()
  const [format, setFormat] = useState('xlsx')
  const [made, setMade] = useState<readonly PayoutRun[]>([])
  const [leftOut, setLeftOut] = useState<readonly LeftOut[]>([])
  // The list, and the cards of the batches, show the others.
  const shown = new Set([...toPay, ...batches.flatMap(({ open }) => open)].map(({ id }) => id))
  const unlisted = leftOut.filter(({ settlement_id: id }) => !shown.has(id))
  const finish = async (first: Answer) => {
    const next = (cursor: string) => doCall(runCall(format, cursor))
    const { runs, stoppedBy } = await allRuns(first, next)
    const allLeftOut = runs.flatMap((run) => run.left_out)
    setRefused(stoppedBy)
    setMade(runs)
    setLeftOut(allLeftOut)
    for (const { command } of allLeftOut) rememberCommand(command ?? '')
  }
  return (
    <Card
      title="To pay out"
      note="A batch takes each settlement that may be paid. Its file goes to the bank."
    >
      <Rows items={toPay} empty="Nothing waits. The sweep records settlements.">
        {(payout) => (
          <li key={payout.id} class="item">
            <PayoutFacts payout={payout} />
            <WhyWaiting payout={payout} leftOut={leftOut} />
          </li>
        )}
      </Rows>
      {toPay.length > 0 && <p class="muted">{payoutsText(toPay)}</p>}
      {!isWhole && <p class="bad">More settlements wait than this list shows.</p>}
      <ActionForm
        label="Make the next batch"
        kind="main"
        call={runCall(format)}
        onAnswer={(answer) => void finish(answer)}
      >
        <SelectField label="File" value={format} options={FORMATS} onChoose={setFormat} />
      </ActionForm>
      {refused !== undefined && (
        <p class="line bad">The run stopped before it had read all merchants: {refused}</p>
      )}
      {made.map(({ batch, file }) =>
        batch && file && batches.some(({ number }) => number === batch.number) ? (
          <p key={batch.number} class="line">
            <span>
              Batch {batch.number} is {batch.state}.
            </span>
            <PayoutDownload file={file} />
          </p>
        ) : null,
      )}
      {unlisted.length > 0 && <LeftOutList leftOut={unlisted} />}
    </Card>
  )
}

type WhyWaitingProps = { readonly payout: Payout; readonly leftOut: readonly LeftOut[] }

/** The reason of the last run says more than the warning of the settlement. */
function WhyWaiting({ payout: { id, warning }, leftOut }: WhyWaitingProps) {
  const reason = leftOut.find(({ settlement_id: leftOutId }) => leftOutId === id)
  if (reason) return <LeftOutReason leftOut={reason} />
  return warning === null ? null : <p class="note">{sentence(withJakartaTimes(warning))}</p>
}

function runCall(format: string, cursor?: string) {
  return operate('payout-file', { format, ...(cursor !== undefined && { cursor }) })
}

function sentence(text: string) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function LeftOutList({ leftOut }: { readonly leftOut: readonly LeftOut[] }) {
  return (
    <section aria-label="Also left out">
      <h3>The last run also left out</h3>
      <Rows items={leftOut} empty="">
        {(one) => (
          <li key={one.settlement_id} class="item">
            <p class="line">
              {one.amount_minor !== null && <strong>{rupiah(one.amount_minor)}</strong>}{' '}
              <code>{one.settlement_id}</code>
            </p>
            <LeftOutReason leftOut={one} />
          </li>
        )}
      </Rows>
    </section>
  )
}

function LeftOutReason({ leftOut: { reason, command } }: { readonly leftOut: LeftOut }) {
  return (
    <>
      <p>
        <strong>Left out:</strong> {withJakartaTimes(reason)}
      </p>
      {command !== null &&
        (commandIn(command) ? (
          <p>
            It waits in <a href="#operate/approvals">the approvals</a>. Then make the next batch
            again.
          </p>
        ) : (
          <p class="note">{withJakartaTimes(command)}</p>
        ))}
    </>
  )
}
