import { useState } from 'preact/hooks'
import type * as v from 'valibot'
import { words } from '../../activity/activity-line.ts'
import { CurlButton, Form, useAction } from '../action-button.tsx'
import { jsonOrText, simulator } from '../calls.ts'
import { TextField } from '../parts.tsx'
import type { ArmedSchema, FaultMenuSchema } from '../shapes.ts'
import { EFFECTS, TARGETS } from './fault-texts.ts'

export type Fault = v.InferOutput<typeof FaultMenuSchema>['faults'][number]
export type ArmedFault = v.InferOutput<typeof ArmedSchema>[number]

/** One fault as a switch, with its value and how often it acts. */
export function FaultRow({
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
  const timesLeft = timesLeftOf(fault, armedFaults)
  const order = {
    target,
    fault: name,
    times: Number(times),
    ...(value !== undefined && { value: jsonOrText(value) }),
  }
  const call = simulator('/faults', order)
  const label = labelOf(fault)
  const { isBusy, run } = useAction({
    label: words(name),
    call: timesLeft > 0 ? switchOffCall(fault) : call,
  })
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

export function labelOf({ target, fault }: Pick<Fault, 'target' | 'fault'>): string {
  return `${words(fault)} ${TARGETS[target]?.toLowerCase() ?? target}`
}

export function switchOffCall({ target, fault }: Pick<Fault, 'target' | 'fault'>) {
  return simulator(`/faults?target=${target}&fault=${fault}`, undefined, 'DELETE')
}

/** How often the fault still acts; 0 if it is off. */
export function timesLeftOf(fault: Fault, armedFaults: readonly ArmedFault[]): number {
  return armedFaults
    .filter((entry) => entry.target === fault.target && entry.fault === fault.fault)
    .reduce((sum, { times }) => sum + times, 0)
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
