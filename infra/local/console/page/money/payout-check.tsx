import * as v from 'valibot'
import { ActionButton } from '../action-button.tsx'
import { invoke, jumpBy, operate, withClientId } from '../calls.ts'
import { ask, type Read, useLoad } from '../gateway.ts'
import { Time } from '../parts.tsx'

const RefusalSchema = v.object({
  message: v.string(),
  action_hint: v.optional(v.string(), ''),
  /** The figures that another person must approve. */
  confirm: v.optional(v.record(v.string(), v.unknown())),
  retry_at: v.optional(v.string()),
})
export type Refusal = v.InferOutput<typeof RefusalSchema>

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
  const { message, confirm, retry_at: retryAt } = refusal
  return (
    <div class="stack small">
      <p>
        It cannot be marked paid yet: {message}.
        {retryAt !== undefined && (
          <>
            {' '}
            It can be from <Time at={retryAt} />.
          </>
        )}
      </p>
      {retryAt !== undefined && (
        <ActionButton label="Jump 2 minutes" about={id} call={jumpBy(TWO_MINUTES)} />
      )}
      {confirm && (
        <>
          <p class="note">On AWS another person with the duty “approve” does this.</p>
          <ActionButton
            label="Approve its figures"
            about={id}
            call={operate('approve', {
              action: 'mark-settlement-paid',
              payload: { settlement_id: id, ...confirm },
            })}
          />
        </>
      )}
      {retryAt === undefined && confirm === undefined && (
        <p class="line">
          <ActionButton
            label="Audit the merchant"
            about={id}
            call={invoke('audit-ledger', withClientId())}
          />
          <ActionButton label="Audit the house" about={id} call={invoke('audit-ledger')} />
        </p>
      )}
    </div>
  )
}

const TWO_MINUTES = 120
