import type { ComponentChildren } from 'preact'
import { useContext, useRef, useState } from 'preact/hooks'
import type { ConsoleCall } from '../console-call.ts'
import { doneSentence } from './done-sentence.ts'
import { type Answer, curlOf, doCall } from './gateway.ts'
import { NoticeContext } from './notice.tsx'

type CopyProps = {
  readonly noun: string
  readonly text: string
  readonly kind?: 'copy' | 'curl'
  readonly name?: string
}

type Action = {
  readonly label: string
  readonly call: ConsoleCall
  readonly onAnswer?: ((answer: Answer) => void) | undefined
}

type ActionButtonProps = Action & {
  /** The item of the action, if the page has several buttons with the same name. */
  readonly about?: string
  readonly kind?: 'main' | 'danger'
  readonly disabled?: boolean
}

/** A button that makes one call, and a button that copies the call as a curl command. */
export function ActionButton(props: ActionButtonProps) {
  const { isBusy, run } = useAction(props)
  return <DoubleButton {...props} isBusy={isBusy} onPress={run} />
}

/**
 * Makes one call at a time, and shows its result in place. A second press during the call has no
 * effect.
 */
export function useAction({ label, call, onAnswer }: Action) {
  const showNotice = useContext(NoticeContext)
  const isRunning = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    const answer = await doCall(call)
    isRunning.current = false
    setBusy(false)
    const { ok, message, status, body } = answer
    showNotice({
      ok,
      text: `${label}: ${ok ? (doneSentence(body) ?? 'done') : message || `HTTP status ${status}`}`,
    })
    onAnswer?.(answer)
  }
  return { isBusy, run: () => void run() }
}

type DoubleButtonProps = Omit<ActionButtonProps, 'onAnswer'> & {
  readonly isBusy: boolean
  readonly onPress?: () => void
}

/** Without `onPress`, the button submits its form. A busy button keeps the focus. */
function DoubleButton({
  label,
  call,
  about = '',
  kind,
  disabled = false,
  isBusy,
  onPress,
}: DoubleButtonProps) {
  const name = about === '' ? label : `${label} ${about}`
  return (
    <span class={`action ${kind ?? ''}`}>
      <button
        type={onPress ? 'button' : 'submit'}
        aria-label={name}
        aria-busy={isBusy}
        aria-disabled={isBusy}
        disabled={disabled}
        onClick={onPress}
      >
        {label}
      </button>
      <CurlButton name={name} call={call} />
    </span>
  )
}

export function CurlButton({ name, call }: { readonly name: string; readonly call: ConsoleCall }) {
  return <CopyButton noun="curl" text={curlOf(call)} kind="curl" name={`Copy “${name}” as curl`} />
}

export function CopyButton({ noun, text, kind = 'copy', name = `Copy ${noun}` }: CopyProps) {
  const showNotice = useContext(NoticeContext)
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => showNotice({ text: `${noun} copied`, ok: true }),
      () =>
        showNotice({ text: `${noun} not copied: allow this page to use the clipboard`, ok: false }),
    )
  return (
    <button type="button" class={kind} aria-label={name} onClick={() => void copy()}>
      {kind}
    </button>
  )
}

/** Fields with their action; Enter in a field also submits. */
export function ActionForm({
  children,
  ...props
}: ActionButtonProps & { readonly children: ComponentChildren }) {
  const { isBusy, run } = useAction(props)
  return (
    <Form kind="form" onSubmit={run}>
      {children}
      <DoubleButton {...props} isBusy={isBusy} />
    </Form>
  )
}

type FormProps = {
  readonly kind: string
  readonly onSubmit: () => void
  readonly children: ComponentChildren
}

/** A form that stays on its page, and leaves all checks to the gateway. */
export function Form({ kind, onSubmit, children }: FormProps) {
  return (
    <form
      class={kind}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}
