import type { ComponentChildren } from 'preact'
import type { ConsoleCall } from '../console-call.ts'
import { CurlButton } from './action-button.tsx'

type CardProps = {
  readonly title: string
  readonly note?: string
  /** What it shows, as a call. */
  readonly call?: ConsoleCall
  readonly children: ComponentChildren
}

/** A titled part of a view; what it shows can be copied as a call. */
export const Card = ({ title, note, call, children }: CardProps) => (
  <section class="card" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {call && <CurlButton of={title} call={call} />}
    </header>
    {note !== undefined && <p class="note">{note}</p>}
    {children}
  </section>
)

const GOOD = ['succeeded', 'manual_paid', 'actual', 'enabled']
const BAD = ['failed', 'expired', 'cancelled', 'abandoned', 'skipped', 'disabled']

/** A status in its colour, and always in its word. */
export const Status = ({ is }: { readonly is: string }) => {
  const tone = GOOD.includes(is) ? 'good' : BAD.includes(is) ? 'bad' : 'plain'
  return <span class={`status ${tone}`}>{is.replaceAll('_', ' ')}</span>
}

export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="empty">{children}</p>

type FieldProps = { readonly label: string; readonly children: ComponentChildren }

/** A control under its label; the control is inside, so that the label is always its own. */
export const Field = ({ label, children }: FieldProps) => (
  <label class="field">
    <span>{label}</span>
    {children}
  </label>
)

/** A time as people read it, with the whole of it for those who point at it. */
export const Time = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={at}>
    {at.slice(0, 10)} {at.slice(11, 19)}
  </time>
)
