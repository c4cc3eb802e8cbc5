import type { ComponentChildren } from 'preact'
import type { ConsoleCall } from '../console-call.ts'
import { type Answer, curlOf, doCall, notice } from './gateway.ts'

const copy = (what: string, text: string) => {
  navigator.clipboard.writeText(text).then(
    () => notice.set({ text: `${what} copied`, ok: true }),
    () => notice.set({ text: `${what} could not be copied: the browser refused`, ok: false }),
  )
}

/** Copies a text, such as an account number. */
export const CopyButton = ({ what, text }: { readonly what: string; readonly text: string }) => (
  <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={() => copy(what, text)}>
    copy
  </button>
)

/** Copies what a part of the page shows or does, for a shell. */
export const CurlButton = ({ of, call }: { readonly of: string; readonly call: ConsoleCall }) => (
  <button type="button" class="curl" aria-label={`Copy “${of}” as curl`} onClick={() => copy('curl', curlOf(call))}>
    curl
  </button>
)

type ActionButtonProps = {
  readonly label: string
  readonly call: ConsoleCall
  /** What it is done to, where several of the same name are on the page. */
  readonly about?: string
  readonly kind?: 'main' | 'danger'
  readonly disabled?: boolean
  readonly after?: (answer: Answer) => void
  readonly children?: ComponentChildren
}

/** A button that does one call, and beside it the same call for a shell. */
export const ActionButton = ({
  label,
  call,
  about = '',
  kind,
  disabled = false,
  after,
  children,
}: ActionButtonProps) => {
  const name = about === '' ? label : `${label} ${about}`
  return (
    <span class={`action ${kind ?? ''}`}>
      <button
        type="button"
        aria-label={name}
        disabled={disabled}
        onClick={() => {
          void doCall(label, call).then(after)
        }}
      >
        {children ?? label}
      </button>
      <CurlButton of={name} call={call} />
    </span>
  )
}
