import { rupiah } from '../../activity/activity-line.ts'
import { commandIn } from '../approvals.ts'
import { withJakartaTimes } from '../jakarta.ts'
import { Rows } from '../parts.tsx'
import type { LeftOut } from './operate-shapes.ts'

/** Settlements that a payout run left out, and that the list of those to pay does not show. */
export function LeftOutList({ leftOut }: { readonly leftOut: readonly LeftOut[] }) {
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

/** Why the last run left a settlement out, and what to do. */
export function LeftOutReason({ leftOut: { reason, command } }: { readonly leftOut: LeftOut }) {
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
