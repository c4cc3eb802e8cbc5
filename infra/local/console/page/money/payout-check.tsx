import * as v from 'valibot'
import { ActionButton } from '../action-button.tsx'
import { forgetApproval } from '../approvals.ts'
import { approveCall, CLOCK_CALL, invoke, jumpBy, operate, withClientId } from '../calls.ts'
import { ask, type Read, useLoad, useRead } from '../gateway.ts'
import { withJakartaTimes } from '../jakarta.ts'
import { ClockSchema } from '../shapes.ts'

const RefusalSchema = v.object({
  message: v.string(),
  action_hint: v.optional(v.string(), ''),
  /** The figures that another person must approve. */
  confirm: v.optional(v.record(v.string(), v.unknown())),
  retry_at: v.optional(v.string()),
})
type Refusal = v.InferOutput<typeof RefusalSchema>

/** Whether a settlement could be marked paid now, by a dry run of the action. */
export function usePayoutCheck(id: string): Read<Refusal | 'none'> {
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

/** Why a settlement cannot be marked paid yet, with the step that helps. */
export function NotYet({ id, refusal }: { readonly id: string; readonly refusal: Refusal }) {
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

/** Lets the time pass until the gateway takes the payout. */
function JumpTo({ id, at }: { readonly id: string; readonly at: string }) {
  const { value: clock } = useRead(ClockSchema, CLOCK_CALL)
  if (!clock) return null
  const seconds = Math.max(1, Math.ceil((Date.parse(at) - Date.parse(clock.now)) / 1_000) + 1)
  return <ActionButton label="Let the time pass" about={id} call={jumpBy(seconds)} />
}
