import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type * as v from 'valibot'
import { words } from '../activity/activity-line.ts'
import type { ConsoleCall } from '../console-call.ts'
import { CurlButton } from './action-button.tsx'
import { type Read, useRead } from './gateway.ts'
import { jakartaTime, utcTime } from './jakarta.ts'
import { WithNotices } from './notice.tsx'

type CardProps = {
  readonly title: string
  readonly note?: string
  /** The call whose answer the card shows. */
  readonly call?: ConsoleCall
  readonly children: ComponentChildren
}

export function Card({ title, note, call, children }: CardProps) {
  return (
    <section class="card" aria-label={title}>
      <WithNotices>
        <header>
          <h2>{title}</h2>
          {call && <CurlButton name={title} call={call} />}
        </header>
        {note !== undefined && <p class="note">{note}</p>}
        {children}
      </WithNotices>
    </section>
  )
}

type ReadResultProps<T> = {
  readonly read: Read<T>
  /**
   * The title of an extra card for the error or the loading text, if the answer has its own cards.
   */
  readonly title?: string
  readonly children: (value: T) => ComponentChildren
}

/** Shows the last answer. If a newer read has failed, its error is shown above. */
export function ReadResult<T>({ read: { value, error }, title, children }: ReadResultProps<T>) {
  const state = (
    <>
      {error !== undefined && (
        <p class="line bad">
          {error}
          {value !== undefined && ' The last answer is shown below.'}
        </p>
      )}
      {value === undefined && error === undefined && <Empty>Loading…</Empty>}
    </>
  )
  return (
    <>
      {title === undefined || (value !== undefined && !error) ? (
        state
      ) : (
        <Card title={title}>{state}</Card>
      )}
      {value !== undefined && children(value)}
    </>
  )
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}

type ReadCardProps<Schema extends v.GenericSchema> = Omit<CardProps, 'children'> & {
  readonly call: ConsoleCall
  readonly schema: Schema
  readonly children: (value: v.InferOutput<Schema>) => ComponentChildren
}

export function ReadCard<const Schema extends v.GenericSchema>({
  schema,
  children,
  ...card
}: ReadCardProps<Schema>) {
  return (
    <Card {...card}>
      <ReadResult read={useRead(schema, card.call)}>{children}</ReadResult>
    </Card>
  )
}

type RowsProps<T> = {
  readonly items: readonly T[]
  readonly empty: string
  readonly children: (item: T) => ComponentChildren
}

export function Rows<T>({ items, empty, children }: RowsProps<T>) {
  return (
    <>
      {items.length === 0 && <Empty>{empty}</Empty>}
      <ul class="rows">{items.map(children)}</ul>
    </>
  )
}

const GOOD_STATUSES = ['succeeded', 'manual_paid', 'actual', 'enabled']
const BAD_STATUSES = ['failed', 'expired', 'cancelled', 'abandoned', 'skipped', 'disabled']

export function Status({ status }: { readonly status: string }) {
  const tone = GOOD_STATUSES.includes(status)
    ? 'good'
    : BAD_STATUSES.includes(status)
      ? 'bad'
      : 'plain'
  return <span class={`status ${tone}`}>{words(status)}</span>
}

type TextFieldProps = {
  readonly label: string
  readonly value: string
  readonly onType: (text: string) => void
  /** Needed if several fields of the page have the same label. */
  readonly 'aria-label'?: string
} & (
  | { type?: 'text' }
  | { type: 'number'; min?: string; step?: string }
  | { type: 'tel' }
  | { type: 'date' }
)

export function TextField({ label, onType, ...input }: TextFieldProps) {
  return (
    <Field label={label}>
      <input type="text" {...input} onInput={({ currentTarget }) => onType(currentTarget.value)} />
    </Field>
  )
}

type FieldProps = { readonly label: string; readonly children: ComponentChildren }

function Field({ label, children }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  )
}

type SelectProps = {
  readonly value: string
  readonly options: readonly (readonly [value: string, label: string])[]
  readonly onChoose: (value: string) => void
  readonly 'aria-label'?: string
}

export function Select({ options, onChoose, ...select }: SelectProps) {
  return (
    <select {...select} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

export function SelectField({ label, ...select }: SelectProps & { readonly label: string }) {
  return (
    <Field label={label}>
      <Select {...select} />
    </Field>
  )
}

/** The pointer over the time shows UTC. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={utcTime(at)}>
      {jakartaTime(at)}
    </time>
  )
}

/** The page starts at the top, even if the list was scrolled. */
export function Detail({ list, label, children }: FieldProps & { readonly list: string }) {
  useEffect(() => scrollTo(0, 0), [])
  return (
    <div class="stack">
      <p>
        <a href={list}>{label}</a>
      </p>
      {children}
    </div>
  )
}

type PagerProps = {
  readonly noun: string
  readonly text?: string
  readonly onNewer: (() => void) | undefined
  readonly onOlder: (() => void) | undefined
  readonly labels?: readonly [newer: string, older: string]
}

export function Pager({
  noun,
  text = '',
  onNewer,
  onOlder,
  labels = ['Newer', 'Older'],
}: PagerProps) {
  return onNewer || onOlder ? (
    <p class="line">
      {([onNewer, onOlder] as const).map((go, index) => (
        <span key={labels[index]} class="action">
          <button type="button" aria-label={`${labels[index]} ${noun}`} disabled={!go} onClick={go}>
            {labels[index]}
          </button>
        </span>
      ))}
      <span class="muted">{text}</span>
    </p>
  ) : null
}

export function NamedValues({ values }: { readonly values: object }) {
  return (
    <dl class="headers">
      {Object.entries(values).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{String(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
