import { useState } from 'preact/hooks'
import type * as v from 'valibot'
import { words } from '../../activity/activity-line.ts'
import { ActionButton, CurlButton, Form, useAction } from '../action-button.tsx'
import { jsonOrText, simulator } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Card, Empty, ReadResult, TextField } from '../parts.tsx'
import { ArmedSchema, FaultMenuSchema } from '../shapes.ts'

const MENU = simulator('', undefined, 'GET')
const ARMED_FAULTS = simulator('/faults', undefined, 'GET')
const CLEAR = simulator('/faults', undefined, 'DELETE')

type Fault = v.InferOutput<typeof FaultMenuSchema>['faults'][number]
type ArmedFault = v.InferOutput<typeof ArmedSchema>[number]

const TARGETS: Readonly<Record<string, string>> = {
  create: 'When a payment is created',
  get: 'When a payment is read',
  cancel: 'When a payment is cancelled',
  transactions: 'When transactions are listed',
  callback: 'When the provider sends a callback',
  payment: 'When a customer pays',
}

const CALL_EFFECTS = {
  timeout_after_commit: 'The call has its effect, but the answer is lost.',
  timeout: 'The call has no effect and no answer.',
  http_500: 'The call has no effect. The answer is 500.',
  http_503: 'The call has no effect. The answer is 503.',
  http_429: 'The call has no effect. The answer is 429: too many requests.',
  slow: 'The call has its effect. The answer comes after this number of milliseconds.',
  refuse: 'The call has no effect. The answer has this error code.',
}

const EFFECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  create: {
    ...CALL_EFFECTS,
    failed: 'The payment fails at once. The answer has this failure code.',
  },
  get: CALL_EFFECTS,
  cancel: CALL_EFFECTS,
  transactions: {
    ...CALL_EFFECTS,
    missing: 'A row is not in the list.',
    duplicate: 'A row is in the list twice.',
    wrong_amount: 'A row has another amount.',
    fee: 'A row has this fee in IDR.',
    fee_late: 'The fee of a row is final after this number of seconds.',
    fee_invoiced: 'A row has no fee: the provider sends an invoice.',
    row_late: 'A row is in the list only after this number of seconds.',
    settle_now: 'A row settles at once, and its fee is final.',
  },
  callback: {
    lost: 'The callback is never sent.',
    duplicate: 'The callback is sent this number of times.',
    delay: 'The callback is sent after this number of seconds.',
    reorder: 'The callback is sent after the next one.',
    forged: 'A callback reports this payment as paid, but it was not paid.',
    wrong_token: 'The callback has a wrong token.',
    legacy_names: 'The callback uses the event names of an older version.',
    v2_shape: 'The whole callback has the form of an older version.',
  },
  payment: {
    wrong_amount: 'The customer pays this amount instead.',
    after_expiry: 'The customer can still pay after the expiry.',
    found_at_settlement: 'The provider finds the money only when it settles.',
  },
}

/**
 * Every fault of the provider as a switch. A switched-on fault affects the next calls or events.
 */
export function ProviderView() {
  const menu = useRead(FaultMenuSchema, MENU)
  const { value: armedFaults = [] } = useRead(ArmedSchema, ARMED_FAULTS)
  const byTarget = [...Map.groupBy(menu.value?.faults ?? [], ({ target }) => target)]
  return (
    <>
      <Card
        title="Faults"
        note="A fault that is on affects the next calls or events. The gateway must handle it."
        call={MENU}
      >
        <ReadResult read={menu}>{() => null}</ReadResult>
        <p class="line">
          <ActionButton label="Switch all off" call={CLEAR} disabled={armedFaults.length === 0} />
          {armedFaults.length === 0 && <Empty>No fault is on.</Empty>}
        </p>
      </Card>
      <div class="split even faults">
        {byTarget.map(([target, faults]) => (
          <Card key={target} title={TARGETS[target] ?? target}>
            <ul class="rows">
              {faults.map((fault) => (
                <FaultRow key={fault.fault} fault={fault} armedFaults={armedFaults} />
              ))}
            </ul>
          </Card>
        ))}
      </div>
    </>
  )
}

function FaultRow({
  fault,
  armedFaults,
}: {
  readonly fault: Fault
  readonly armedFaults: readonly ArmedFault[]
}) {
  const { target, fault: name, value: example } = fault
  const [value, setValue] = useState(
    typeof example === 'string' ? example : JSON.stringify(example),
  )
  const [times, setTimes] = useState('1')
  const timesLeft = armedFaults
    .filter((entry) => entry.target === target && entry.fault === name)
    .reduce((sum, entry) => sum + entry.times, 0)
  const order = {
    target,
    fault: name,
    times: Number(times),
    ...(value !== undefined && { value: jsonOrText(value) }),
  }
  const call = simulator('/faults', order)
  const clearCall = simulator(`/faults?target=${target}&fault=${name}`, undefined, 'DELETE')
  const label = `${words(name)} ${TARGETS[target]?.toLowerCase() ?? target}`
  const { isBusy, run } = useAction({ label: words(name), call: timesLeft > 0 ? clearCall : call })
  return (
    <li>
      <Form kind="fault" onSubmit={run}>
        <button
          type="submit"
          role="switch"
          aria-checked={timesLeft > 0}
          aria-label={label}
          aria-busy={isBusy}
          aria-disabled={isBusy}
        />
        <div>
          <strong>{words(name)}</strong>{' '}
          <span class="left">{timesLeft > 0 ? `${timesLeft} left` : ''}</span>
          <p class="note">{EFFECTS[target]?.[name]}</p>
        </div>
        <FaultFields {...{ label, value, setValue, times, setTimes }} />
        <CurlButton name={label} call={call} />
      </Form>
    </li>
  )
}

type FaultFieldsProps = {
  readonly label: string
  readonly value: string | undefined
  readonly setValue: (value: string) => void
  readonly times: string
  readonly setTimes: (times: string) => void
}

function FaultFields({ label, value, setValue, times, setTimes }: FaultFieldsProps) {
  return (
    <>
      {value !== undefined && (
        <TextField label="Value" aria-label={`Value of ${label}`} value={value} onType={setValue} />
      )}
      <TextField
        label="Times"
        aria-label={`Times ${label}`}
        type="number"
        min="1"
        value={times}
        onType={setTimes}
      />
    </>
  )
}
