import { useState } from 'preact/hooks'
import type * as v from 'valibot'
import { words } from '../../story/story-line.ts'
import { ActionButton, CurlButton, Form, useAction } from '../action-button.tsx'
import { jsonOrText, simulator } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Answered, Card, Empty, TextField } from '../parts.tsx'
import { ArmedSchema, FaultMenuSchema } from '../shapes.ts'

const MENU = simulator('', undefined, 'GET')
const ARMED = simulator('/faults', undefined, 'GET')
const CLEAR = simulator('/faults', undefined, 'DELETE')

type Fault = v.InferOutput<typeof FaultMenuSchema>['faults'][number]
type Armed = v.InferOutput<typeof ArmedSchema>[number]

const TARGETS: Readonly<Record<string, string>> = {
  create: 'When a payment is created',
  get: 'When a payment is asked about',
  cancel: 'When a payment is cancelled',
  transactions: 'When transactions are listed',
  callback: 'When it calls us back',
  payment: 'When a customer pays',
}

/** The effect of each call fault. */
const OF_A_CALL = {
  timeout_after_commit: 'It does what was asked, and its answer is lost.',
  timeout: 'It does nothing, and does not answer.',
  http_500: 'It does nothing, and answers 500.',
  http_503: 'It does nothing, and answers 503.',
  http_429: 'It does nothing, and answers 429: too many requests.',
  slow: 'It does what was asked, and answers so many milliseconds later.',
  refuse: 'It does nothing, and refuses with this error code.',
}

/** The effect of every fault. */
const SENTENCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  create: OF_A_CALL,
  get: OF_A_CALL,
  cancel: OF_A_CALL,
  transactions: {
    ...OF_A_CALL,
    missing: 'A row is not in the list.',
    duplicate: 'A row is in the list twice.',
    wrong_amount: 'A row has another amount.',
    fee: 'A row has this fee in IDR.',
    fee_late: 'The fee of a row is final so many seconds later.',
    fee_invoiced: 'A row has no fee: the provider sends an invoice.',
    settle_now: 'A row settles at once, and its fee is final.',
  },
  callback: {
    lost: 'The callback does not come.',
    duplicate: 'The callback comes so many times.',
    delay: 'The callback comes so many seconds later.',
    reorder: 'The callback comes after the next one.',
    forged: 'A callback says that this payment was paid. It was not.',
    wrong_token: 'The callback has a wrong token.',
    legacy_names: 'The callback uses the names of an older version.',
  },
  payment: {
    wrong_amount: 'The customer pays this amount instead.',
    after_expiry: 'The customer can still pay after the end.',
  },
}

const FaultRow = ({ fault, armed }: { readonly fault: Fault; readonly armed: readonly Armed[] }) => {
  const { target, fault: name, value: example } = fault
  const [value, setValue] = useState(typeof example === 'string' ? example : JSON.stringify(example))
  const [times, setTimes] = useState('1')
  const left = armed
    .filter((one) => one.target === target && one.fault === name)
    .reduce((sum, one) => sum + one.times, 0)
  const order = { target, fault: name, times: Number(times), ...(value !== undefined && { value: jsonOrText(value) }) }
  const call = simulator('/faults', order)
  const off = simulator(`/faults?target=${target}&fault=${name}`, undefined, 'DELETE')
  const label = `${words(name)} ${TARGETS[target]?.toLowerCase() ?? target}`
  const { isBusy, run } = useAction({ label: words(name), call: left > 0 ? off : call })
  return (
    <li>
      <Form kind="fault" onSubmit={run}>
        <button
          type="submit"
          role="switch"
          aria-checked={left > 0}
          aria-label={label}
          aria-busy={isBusy}
          aria-disabled={isBusy}
        />
        <div>
          <strong>{words(name)}</strong> <span class="left">{left > 0 ? `${left} to come` : ''}</span>
          <p class="note">{SENTENCES[target]?.[name]}</p>
        </div>
        {value !== undefined && (
          <TextField label="Value" aria-label={`Value of ${label}`} value={value} onType={setValue} />
        )}
        <TextField label="Times" aria-label={`Times ${label}`} type="number" min="1" value={times} onType={setTimes} />
        <CurlButton of={label} call={call} />
      </Form>
    </li>
  )
}

/** Every fault of the provider as a switch. While it is on, it affects the next calls to the provider. */
export const ProviderView = () => {
  const menu = useRead(FaultMenuSchema, MENU)
  const { value: armed = [] } = useRead(ArmedSchema, ARMED)
  const byTarget = [...Map.groupBy(menu.value?.faults ?? [], ({ target }) => target)]
  return (
    <>
      <Card
        title="Faults"
        note="Switch one on, and the provider does it the next times. The gateway must cope."
        call={MENU}
      >
        <Answered read={menu}>{() => null}</Answered>
        <p class="line">
          <ActionButton label="Switch all off" call={CLEAR} disabled={armed.length === 0} />
          {armed.length === 0 && <Empty>The provider is well.</Empty>}
        </p>
      </Card>
      <div class="split even faults">
        {byTarget.map(([target, faults]) => (
          <Card key={target} title={TARGETS[target] ?? target}>
            <ul class="rows">
              {faults.map((fault) => (
                <FaultRow key={fault.fault} fault={fault} armed={armed} />
              ))}
            </ul>
          </Card>
        ))}
      </div>
    </>
  )
}
