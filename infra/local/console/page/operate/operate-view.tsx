import { useEffect, useRef, useState } from 'preact/hooks'
import { ActionButton, ActionForm } from '../action-button.tsx'
import { type Approvable, commandIn, forgetApproval, useWaitingApprovals } from '../approvals.ts'
import { approveCall, operate, useLoad } from '../gateway.ts'
import { Card, NamedValues, ReadResult, Rows, TextField } from '../parts.tsx'
import { BatchCard } from './batch-card.tsx'
import { loadPayouts, type Payouts } from './load-payouts.ts'
import type { Payout } from './operate-shapes.ts'
import { PayoutRunCard } from './payout-run-card.tsx'
import { PayoutFacts } from './payout-text.tsx'
import { SuspenseCard } from './suspense-card.tsx'

/** What waits for an operator, for all merchants. The address can name the part to show. */
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
  /** The card of the batch disappears after its last answer. */
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

const APPROVALS_NOTE =
  'A second person checks the figures. An approval holds for 72 hours and one use. Then repeat ' +
  'the refused action.'

type ApprovalsCardProps = {
  /** The known settlements, so that the second person sees amount and account. */
  readonly payouts: readonly Payout[]
}

/** The second field takes the command of a refusal elsewhere. */
function ApprovalsCard({ payouts }: ApprovalsCardProps) {
  const waiting = useWaitingApprovals()
  return (
    <div id="operate-approvals">
      <Card title="Approvals" note={APPROVALS_NOTE}>
        <Rows items={waiting} empty="No action of this page waits for an approval.">
          {(approvable) => (
            <li key={JSON.stringify(approvable)} class="item">
              <Figures approvable={approvable} payouts={payouts} />
              <ActionButton
                label="Approve"
                about={`${approvable.action} ${Object.values(approvable.payload).join(' ')}`}
                kind="main"
                call={approveCall(approvable)}
                onAnswer={({ ok }) => {
                  if (ok) forgetApproval(approvable)
                }}
              />
            </li>
          )}
        </Rows>
        <details>
          <summary>Approve the command of another refusal</summary>
          <CommandForm />
        </details>
      </Card>
    </div>
  )
}

type FiguresProps = Partial<ApprovalsCardProps> & { readonly approvable: Approvable }

function Figures({ approvable: { action, payload }, payouts = [] }: FiguresProps) {
  const payout = payouts.find(({ id }) => id === payload['settlement_id'])
  return (
    <>
      <strong>{action}</strong>
      {payout && <PayoutFacts payout={payout} />}
      <NamedValues values={payload} />
    </>
  )
}

function CommandForm() {
  const [text, setText] = useState('')
  const approvable = commandIn(text)
  return (
    <>
      <ActionForm
        label="Approve this command"
        disabled={approvable === undefined}
        call={approveCall(approvable ?? { action: '', payload: {} })}
        onAnswer={({ ok }) => {
          if (ok) setText('')
        }}
      >
        <TextField label="approve --action … --payload '…'" value={text} onType={setText} />
      </ActionForm>
      {approvable && <Figures approvable={approvable} />}
    </>
  )
}

const FAILED_NOTE =
  'Correct the bank details, then credit the money again: the next settlement pays it. A second ' +
  'person first sees at the bank that the transfer did not go out.'

/** The money waits until it is credited again. */
function FailedPayoutsCard({ failed }: { readonly failed: readonly Payout[] }) {
  return (
    <Card title="Failed payouts" note={FAILED_NOTE}>
      <Rows items={failed} empty="None.">
        {(payout) => <Row key={payout.id} payout={payout} />}
      </Rows>
    </Card>
  )
}

function Row({ payout }: { readonly payout: Payout }) {
  const [notes, setNotes] = useState('')
  return (
    <li class="item">
      <PayoutFacts payout={payout} />
      {payout.notes !== null && <p class="bad">{payout.notes}</p>}
      <ActionForm
        label="Credit it again"
        about={payout.id}
        call={operate('recredit-settlement', {
          settlement_id: payout.id,
          notes: notes || 'in the console',
        })}
      >
        <TextField
          label="Notes"
          aria-label={`Notes on ${payout.id}`}
          value={notes}
          onType={setNotes}
        />
      </ActionForm>
    </li>
  )
}
