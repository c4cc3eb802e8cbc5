import { useState } from 'preact/hooks'
import * as v from 'valibot'
import { countOf, rupiah } from '../../activity/activity-line.ts'
import { ActionButton, ActionForm } from '../action-button.tsx'
import { forgetApproval } from '../approvals.ts'
import {
  api,
  approveCall,
  ask,
  invoke,
  jumpBy,
  operate,
  type Read,
  useClock,
  useLoad,
  withClientId,
} from '../gateway.ts'
import { withJakartaTimes } from '../jakarta.ts'
import { ReadCard, Rows, Status, TextField, Time } from '../parts.tsx'
import { SettlementsSchema } from '../shapes.ts'

type Settlement = v.InferOutput<typeof SettlementsSchema>['data'][number]

export function SettlementsCard() {
  return (
    <ReadCard
      title="Settlements"
      note="The sweep records settlements. An operator transfers the money and marks them paid."
      call={api('settlements?per_page=10')}
      schema={SettlementsSchema}
    >
      {({ data }) => (
        <Rows items={data} empty="No settlement yet. The daily work records one.">
          {(settlement) => <SettlementRow key={settlement.id} settlement={settlement} />}
        </Rows>
      )}
    </ReadCard>
  )
}

export function SettlementRow({ settlement }: { readonly settlement: Settlement }) {
  const {
    id,
    status,
    net_minor: net,
    payment_count: count,
    period_start: start,
    period_end: end,
  } = settlement
  return (
    <li class="item">
      <p class="line">
        <strong>{rupiah(net)}</strong> <Status status={status} />{' '}
        <span class="muted">{countOf(count, 'payment')}</span>
      </p>
      <p class="line muted">
        <Time at={start} /> to <Time at={end} />
      </p>
      <p>
        <a href={`#money/${id}`} aria-label={`its entries, settlement of ${rupiah(net)}`}>
          its entries
        </a>
      </p>
      {status === 'recorded' && <RecordedActions settlement={settlement} />}
      {status === 'failed' && (
        <>
          <ActionButton
            label="Approve the re-credit"
            about={id}
            call={approveCall({ action: 'recredit-settlement', payload: { settlement_id: id } })}
          />
          <ActionButton
            label="Credit it again"
            about={id}
            call={operate('recredit-settlement', { settlement_id: id, notes: 'in the console' })}
          />
        </>
      )}
    </li>
  )
}

function RecordedActions({ settlement: { id } }: { readonly settlement: Settlement }) {
  const [notes, setNotes] = useState('bank transfer')
  const [reference, setReference] = useState(exampleReference(id))
  const payout = { settlement_id: id, notes, bank_reference: reference }
  const { value: refusal } = usePayoutCheck(id)
  return (
    <>
      {refusal === 'none' && (
        <ActionForm
          label="Mark paid"
          about={id}
          kind="main"
          call={operate('mark-settlement-paid', payout)}
        >
          <TextField label="Bank reference" value={reference} onType={setReference} />
          <TextField label="Notes" value={notes} onType={setNotes} />
        </ActionForm>
      )}
      {refusal !== undefined && refusal !== 'none' && <NotYet id={id} refusal={refusal} />}
      <ActionButton
        label="Mark failed"
        about={id}
        kind="danger"
        call={operate('mark-settlement-failed', { settlement_id: id, notes })}
      />
    </>
  )
}

/** The console's name of a transfer; a person types the bank's own. */
function exampleReference(id: string) {
  return `transfer-${id.slice(-8)}`
}

const RefusalSchema = v.object({
  message: v.string(),
  action_hint: v.optional(v.string(), ''),
  /** The figures that another person must approve. */
  confirm: v.optional(v.record(v.string(), v.unknown())),
  retry_at: v.optional(v.string()),
})
type Refusal = v.InferOutput<typeof RefusalSchema>

/** Whether a settlement could be marked paid now, by a dry run of the action. */
function usePayoutCheck(id: string): Read<Refusal | 'none'> {
  return useLoad<Refusal | 'none'>(id, async () => {
    const { ok, status, body, message } = await ask(
      operate('mark-settlement-paid', {
        settlement_id: id,
        bank_reference: 'only asked',
        dry_run: true,
      }),
    )
    if (ok) return { value: 'none' }
    const refusal = v.safeParse(RefusalSchema, body)
    return refusal.success
      ? { value: refusal.output }
      : { error: message || `HTTP status ${status}`, isTemporary: true }
  })
}

function NotYet({ id, refusal }: { readonly id: string; readonly refusal: Refusal }) {
  const { message, action_hint: hint, confirm, retry_at: retryAt } = refusal
  const figures = { action: 'mark-settlement-paid', payload: { settlement_id: id, ...confirm } }
  return (
    <div class="stack small">
      <p>It cannot be marked paid yet: {withJakartaTimes(message)}.</p>
      {confirm ? (
        <>
          <p class="note">A second person approves these figures.</p>
          <ActionButton
            label="Approve its figures"
            about={id}
            call={approveCall(figures)}
            onAnswer={({ ok }) => {
              if (ok) forgetApproval(figures)
            }}
          />
        </>
      ) : (
        <p class="note">{withJakartaTimes(hint)}</p>
      )}
      <p class="line">
        {retryAt !== undefined && <JumpTo id={id} at={retryAt} />}
        {hint.includes('audit-ledger') && (
          <>
            <ActionButton
              label="Audit the merchant"
              about={id}
              call={invoke('audit-ledger', withClientId())}
            />
            <ActionButton label="Audit the house" about={id} call={invoke('audit-ledger')} />
          </>
        )}
      </p>
    </div>
  )
}

function JumpTo({ id, at }: { readonly id: string; readonly at: string }) {
  const clock = useClock()
  if (!clock) return null
  const seconds = Math.max(1, Math.ceil((Date.parse(at) - Date.parse(clock.now)) / 1_000) + 1)
  return <ActionButton label="Let the time pass" about={id} call={jumpBy(seconds)} />
}
