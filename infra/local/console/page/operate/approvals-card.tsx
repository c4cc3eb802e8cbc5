import { useState } from 'preact/hooks'
import { ActionButton, ActionForm } from '../action-button.tsx'
import { type Approvable, commandIn, forgetApproval, useWaitingApprovals } from '../approvals.ts'
import { approveCall } from '../calls.ts'
import { Card, Rows, TextField } from '../parts.tsx'
import type { Payout } from './operate-shapes.ts'
import { PayoutFacts } from './payout-text.tsx'

const NOTE =
  'A second person checks the figures. An approval holds for 72 hours and one use. Then repeat ' +
  'the refused action.'

type ApprovalsCardProps = {
  /** The known settlements, so that the second person sees amount and account. */
  readonly payouts: readonly Payout[]
}

/**
 * The approvals that refused actions of this page wait for, and a field for the command of any
 * other refusal.
 */
export function ApprovalsCard({ payouts }: ApprovalsCardProps) {
  const waiting = useWaitingApprovals()
  return (
    <div id="operate-approvals">
      <Card title="Approvals" note={NOTE}>
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
      <dl class="headers">
        {Object.entries(payload).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{String(value)}</dd>
          </div>
        ))}
      </dl>
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
