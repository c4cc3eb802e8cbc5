import { useRef, useState } from 'preact/hooks'
import { ActionButton } from '../action-button.tsx'
import { invoke, jumpBy } from '../calls.ts'
import { Card } from '../parts.tsx'
import { settleEverything, type Told } from './settle-everything.ts'

const DAY = 86_400

const STEPS = [
  ['Jump 5 days', jumpBy(5 * DAY), 'the provider then settles the payments'],
  ['Read the provider’s transactions', invoke('sync-provider-transactions'), 'fees become final'],
  ['Sweep', invoke('sweep-settlements'), 'records a settlement of credits older than a day'],
  ['Check due work', invoke('check-due-work'), 'expires payments, and sends overdue webhooks'],
] as const

/** All steps from paid payments to a settlement that can be paid out; or each step by itself. */
export function SettleCard() {
  const [told, setTold] = useState<readonly Told[]>([])
  const [isBusy, setBusy] = useState(false)
  const isRunning = useRef(false)
  const run = async () => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    const sentences: Told[] = []
    setTold([])
    for await (const sentence of settleEverything()) {
      sentences.push(sentence)
      setTold([...sentences])
    }
    isRunning.current = false
    setBusy(false)
  }
  return (
    <Card
      title="Settle everything now"
      note="Five days pass, the provider settles, the sweep settles, and the audit checks."
    >
      <span class="action main alone">
        <button type="button" aria-busy={isBusy} aria-disabled={isBusy} onClick={() => void run()}>
          Settle everything now
        </button>
      </span>
      <div role="status">
        <ol class="attempts">
          {told.map(({ text, ok }) => (
            <li key={text} class={ok ? 'good' : 'bad'}>
              {text}
            </li>
          ))}
        </ol>
      </div>
      <details>
        <summary>Step by step</summary>
        <ol class="steps">
          {STEPS.map(([label, call, effect]) => (
            <li key={label}>
              <ActionButton label={label} call={call} /> <span class="muted">{effect}</span>
            </li>
          ))}
        </ol>
      </details>
    </Card>
  )
}
