import { countOf, words } from '../../activity/activity-line.ts'
import { ActionButton } from '../action-button.tsx'
import { simulator } from '../calls.ts'
import { type Read, useRead } from '../gateway.ts'
import { Card, ReadResult, Rows } from '../parts.tsx'
import { ArmedSchema, FaultMenuSchema } from '../shapes.ts'
import {
  type ArmedFault,
  type Fault,
  FaultRow,
  labelOf,
  switchOffCall,
  timesLeftOf,
} from './fault-row.tsx'
import { EFFECTS, TARGETS } from './fault-texts.ts'

const MENU = simulator('', undefined, 'GET')
const ARMED_FAULTS = simulator('/faults', undefined, 'GET')
const CLEAR = simulator('/faults', undefined, 'DELETE')

/**
 * Every fault of the provider as a switch, in groups by what they act on. Above them are the faults
 * that are on. A switched-on fault affects the next calls or events.
 */
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

/** The faults that are on, each with how often it still acts. */
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
                    <p class="note">{EFFECTS[fault.target]?.[fault.fault]}</p>
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
