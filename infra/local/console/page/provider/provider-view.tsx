import { useState } from 'preact/hooks'
import type * as v from 'valibot'
import { countOf, words } from '../../activity/activity-line.ts'
import { ActionButton, CurlButton, Form, useAction } from '../action-button.tsx'
import { jsonOrText, type Read, simulator, useRead } from '../gateway.ts'
import { Card, ReadResult, Rows, TextField } from '../parts.tsx'
import { ArmedSchema, FaultMenuSchema } from '../shapes.ts'

/** When each group of faults acts. */
const TARGETS: Readonly<Record<string, string>> = {
  create: 'When a payment is created',
  get: 'When a payment is read',
  cancel: 'When a payment is cancelled',
  transactions: 'When transactions are listed',
  callback: 'When the provider sends a callback',
  payment: 'When a customer pays',
}

const MENU = simulator('', undefined, 'GET')
const ARMED_FAULTS = simulator('/faults', undefined, 'GET')
const CLEAR = simulator('/faults', undefined, 'DELETE')

/** Every fault of the provider as a switch; it affects the next calls or events. */
export function ProviderView() {
  const menu = useRead(FaultMenuSchema, MENU)
  const armed = useRead(ArmedSchema, ARMED_FAULTS)
  const groups = [...Map.groupBy(menu.value?.faults ?? [], ({ target }) => target)]
  return (
    <div class="stack">
      <ArmedCard armed={armed} faults={menu.value?.faults ?? []} />
      <Card
        title="All faults"
        note="A fault that is on affects the next calls or events. The gateway must handle it."
        call={MENU}
      >
        <ReadResult read={menu}>
          {() => (
            <div class="groups">
              {groups.map(([target, faults]) => (
                <Group
                  key={target}
                  target={target}
                  faults={faults}
                  armedFaults={armed.value ?? []}
                />
              ))}
            </div>
          )}
        </ReadResult>
      </Card>
    </div>
  )
}

type ArmedCardProps = {
  readonly armed: Read<readonly ArmedFault[]>
  readonly faults: readonly Fault[]
}

function ArmedCard({ armed, faults }: ArmedCardProps) {
  return (
    <Card title="Faults that are on" call={ARMED_FAULTS}>
      <ReadResult read={armed}>
        {(armedFaults) => {
          const used = faults.filter((fault) => timesLeftOf(fault, armedFaults) > 0)
          return (
            <>
              <Rows items={used} empty="None: the provider does as its documents say.">
                {(fault) => (
                  <li key={labelOf(fault)} class="item">
                    <p class="line">
                      <strong>{words(fault.fault)}</strong>
                      <span class="muted">{TARGETS[fault.target]?.toLowerCase()}</span>
                      <span class="status bad">{timesLeftOf(fault, armedFaults)} left</span>
                    </p>
                    <p class="note">{fault.does}</p>
                    <ActionButton
                      label="Switch off"
                      about={labelOf(fault)}
                      call={switchOffCall(fault)}
                    />
                  </li>
                )}
              </Rows>
              {used.length > 0 && (
                <p class="line">
                  <ActionButton label="Switch all off" call={CLEAR} />
                </p>
              )}
            </>
          )
        }}
      </ReadResult>
    </Card>
  )
}

type GroupProps = {
  readonly target: string
  readonly faults: readonly Fault[]
  readonly armedFaults: readonly ArmedFault[]
}

function Group({ target, faults, armedFaults }: GroupProps) {
  const count = faults.filter((fault) => timesLeftOf(fault, armedFaults) > 0).length
  return (
    <details class="group">
      <summary>
        <strong>{TARGETS[target] ?? target}</strong> <span>{countOf(faults.length, 'fault')}</span>{' '}
        {count > 0 && <span class="status bad">{count} on</span>}
      </summary>
      <ul class="rows">
        {faults.map((fault) => (
          <FaultRow key={fault.fault} fault={fault} armedFaults={armedFaults} />
        ))}
      </ul>
    </details>
  )
}

type Fault = v.InferOutput<typeof FaultMenuSchema>['faults'][number]
type ArmedFault = v.InferOutput<typeof ArmedSchema>[number]

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
          <p class="note">{fault.does}</p>
        </div>
        <FaultFields {...{ label, value, setValue, times, setTimes }} />
        <CurlButton name={label} call={call} />
      </Form>
    </li>
  )
}

function labelOf({ target, fault }: Pick<Fault, 'target' | 'fault'>) {
  return `${words(fault)} ${TARGETS[target]?.toLowerCase() ?? target}`
}

function switchOffCall({ target, fault }: Pick<Fault, 'target' | 'fault'>) {
  return simulator(`/faults?target=${target}&fault=${fault}`, undefined, 'DELETE')
}

/** How often the fault still acts; 0 if it is off. */
function timesLeftOf(fault: Fault, armedFaults: readonly ArmedFault[]) {
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
