import type { ComponentChildren } from 'preact'
import { useContext, useRef, useState } from 'preact/hooks'
import * as v from 'valibot'
import { countOf, rupiah, words } from '../activity/activity-line.ts'
import type { ConsoleCall } from '../console-call.ts'
import { curlOf, doCall } from './gateway.ts'
import { jakartaTime } from './jakarta.ts'
import { NoticeContext } from './notice.tsx'
import type { Answer } from './shapes.ts'

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
  /** Needed if several buttons of the page have the same name. */
  readonly about?: string
  readonly kind?: 'main' | 'danger'
  readonly disabled?: boolean
}

export function ActionButton(props: ActionButtonProps) {
  const { isBusy, run } = useAction(props)
  return <DoubleButton {...props} isBusy={isBusy} onPress={run} />
}

/** Makes one call at a time, and shows its result in place. */
export function useAction({ label, call, onAnswer }: Action) {
  const showNotice = useContext(NoticeContext)
  return useBusy(async () => {
    const answer = await doCall(call)
    const { ok, message, status, body } = answer
    showNotice({
      ok,
      text: `${label}: ${ok ? (doneSentence(body) ?? 'done') : message || `HTTP status ${status}`}`,
    })
    onAnswer?.(answer)
  })
}

/** While the work runs, `run` does nothing. */
function useBusy(work: () => Promise<void>) {
  const isRunning = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    await work()
    isRunning.current = false
    setBusy(false)
  }
  return { isBusy, run: () => void run() }
}

type WorkButtonProps = {
  readonly kind?: 'main'
  readonly label: string
  readonly name?: string
  readonly work: () => Promise<void>
}

/** For work of several calls, which no curl line shows. */
export function WorkButton({ kind, label, name = label, work }: WorkButtonProps) {
  const { isBusy, run } = useBusy(work)
  return (
    <span class={`action alone ${kind ?? ''}`}>
      <button
        type="button"
        aria-label={name}
        aria-busy={isBusy}
        aria-disabled={isBusy}
        onClick={run}
      >
        {label}
      </button>
    </span>
  )
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

/** Enter in a field also submits. */
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

/** A form that leaves all checks to the gateway. */
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

const Batch = v.object({ number: v.number(), state: v.string(), count: v.number() })

/** By the members of a changing call's answer. The first that fits is told. */
const SENTENCES: readonly ((body: unknown) => string | undefined)[] = [
  told({ now: v.string() }, ({ now }) => `it is now ${jakartaTime(now)}`),
  told({ settlements: v.array(v.object({ net_minor: v.number() })) }, ({ settlements }) =>
    settlements.length === 0
      ? 'a worker still sums the settlement'
      : `${countOf(settlements.length, 'settlement')}, ${rupiah(sumOf(settlements))}`,
  ),
  told(
    { net_minor: v.number(), payment_count: v.number(), status: v.string() },
    ({ net_minor: net, payment_count: count, status }) =>
      `${rupiah(net)} of ${countOf(count, 'payment')}: ${words(status)}`,
  ),
  told(
    { notional_minor: v.number(), status: v.string() },
    (payment) => `${rupiah(payment.notional_minor)}: ${words(payment.status)}`,
  ),
  told(
    { transactions: v.number() },
    ({ transactions }) => `${countOf(transactions, 'transaction')} of the provider read`,
  ),
  told(
    { clients: v.number() },
    ({ clients }) => `the money of ${countOf(clients, 'merchant')} is settled if it is eligible`,
  ),
  told(
    { payment: v.number(), delivery: v.number() },
    ({ payment, delivery }) =>
      `${countOf(payment, 'payment')} and ${countOf(delivery, 'webhook')} were due`,
  ),
  told(
    { balanced: v.unknown(), differences: v.array(v.unknown()) },
    ({ balanced, differences }) => {
      if (balanced === true) return 'no difference'
      if (balanced !== false) return 'the books changed meanwhile; audit again'
      return countOf(differences.length, 'difference')
    },
  ),
  told(
    {
      batch: v.nullable(Batch),
      left_out: v.array(v.unknown()),
      continuing: v.optional(v.boolean(), false),
    },
    ({ batch, continuing }) => {
      if (batch !== null) return batchText(batch)
      return continuing ? 'the run continues' : 'no settlement may be paid out now'
    },
  ),
  told({ batch: Batch }, ({ batch }) => batchText(batch)),
  told(
    { done: v.number(), failed: v.number(), refused: v.number() },
    ({ done, failed, refused }) => `${done} paid, ${failed} failed, ${refused} refused`,
  ),
  told({ count: v.number() }, ({ count }) => `${countOf(count, 'webhook')} sent again`),
  told({ delivery_id: v.string(), status: v.string() }, ({ status }) => `webhook ${status}`),
  told({ endpoint_id: v.string(), enabled: v.boolean() }, ({ enabled }) =>
    enabled ? 'the endpoint gets webhooks' : 'the endpoint gets no webhooks',
  ),
  told(
    { approved_by: v.string(), until: v.string() },
    ({ until }) => `approved until ${jakartaTime(until)}`,
  ),
  told({ suspense_id: v.string(), resolution: v.string() }, ({ resolution }) => words(resolution)),
]

/** Undefined for an answer that says no more than success. */
function doneSentence(body: unknown) {
  for (const sentenceOf of SENTENCES) {
    const sentence = sentenceOf(body)
    if (sentence !== undefined) return sentence
  }
  return undefined
}

function told<const Fields extends v.ObjectEntries>(
  fields: Fields,
  say: (body: v.InferOutput<v.ObjectSchema<Fields, undefined>>) => string,
) {
  const schema = v.object(fields)
  return (body: unknown) => {
    const parsed = v.safeParse(schema, body)
    return parsed.success ? say(parsed.output) : undefined
  }
}

function batchText({ number, state, count }: v.InferOutput<typeof Batch>) {
  return `batch ${number} with ${countOf(count, 'payout')} is ${state}`
}

function sumOf(settlements: readonly { readonly net_minor: number }[]) {
  return settlements.reduce((sum, { net_minor: net }) => sum + net, 0)
}
