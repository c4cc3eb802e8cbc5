import { useState } from 'preact/hooks'
import type { ConsoleCall } from '../../console-call.ts'
import { ActionButton } from '../action-button.tsx'
import { useRead } from '../gateway.ts'
import { Card, ReadResult, Rows, SelectField, Time } from '../parts.tsx'
import { ReceivedSchema } from '../shapes.ts'

const BEHAVIOURS: Readonly<Record<string, readonly [label: string, body: object]>> = {
  good: ['200, at once', {}],
  error: ['500', { status: 500 }],
  slow: ['200 after 3 seconds', { delay_ms: 3_000 }],
  hang: ['no answer', { hang: true }],
  close: ['a closed connection', { close: true }],
}

const OPTIONS = Object.entries(BEHAVIOURS).map(([value, [label]]) => [value, label] as const)

const RECEIVED_CALL: ConsoleCall = { port: 'inbox', method: 'GET', path: '/received' }
const SHOWN_WEBHOOKS = 6

export function InboxCard() {
  const [behaviour, setBehaviour] = useState('good')
  const [, body] = BEHAVIOURS[behaviour] ?? ['', {}]
  const call: ConsoleCall = { port: 'inbox', method: 'POST', path: '/behaviour', body }
  return (
    <Card
      title="The merchant’s server"
      note="The sample inbox checks each signature with the endpoint’s secret."
      call={RECEIVED_CALL}
    >
      <div class="line">
        <SelectField
          label="It answers webhooks with"
          value={behaviour}
          options={OPTIONS}
          onChoose={setBehaviour}
        />
        <ActionButton label="Set" about="how webhooks are answered" call={call} />
      </div>
      <ReceivedWebhooks />
    </Card>
  )
}

function ReceivedWebhooks() {
  return (
    <ReadResult read={useReceived()}>
      {(received) => (
        <Rows
          items={[...received.entries()].toReversed().slice(0, SHOWN_WEBHOOKS)}
          empty="No webhook received yet."
        >
          {([place, { at, headers, body, signature_valid: valid }]) => (
            <li key={place} class="item">
              <p class="line">
                <strong>{String(headers['x-gateway-event'])}</strong>
                <span class={`status ${valid === true ? 'good' : 'bad'}`}>{verdict(valid)}</span>{' '}
                <Time at={at} />
              </p>
              <details>
                <summary>Body</summary>
                <code class="long">{body}</code>
              </details>
            </li>
          )}
        </Rows>
      )}
    </ReadResult>
  )
}

export function useReceived() {
  return useRead(ReceivedSchema, RECEIVED_CALL)
}

function verdict(valid: boolean | null) {
  return valid === null ? 'no secret known' : valid ? 'signature verified' : 'signature wrong'
}
