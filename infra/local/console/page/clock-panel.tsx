import { useEffect, useState } from 'preact/hooks'
import { ActionButton } from './action-button.tsx'
import { CLOCK_CALL, jumpBy } from './calls.ts'
import { Fold } from './fold.tsx'
import { useRead } from './gateway.ts'
import { jakartaMinuteOfDay, jakartaTime, utcTime } from './jakarta.ts'
import { WithNotices } from './notice.tsx'
import { Select } from './parts.tsx'
import { ClockSchema } from './shapes.ts'

const JUMPS = [
  ['60', '1 minute'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['432000', '5 days'],
  ['2592000', '30 days'],
] as const

/** The local clock, with buttons that jump forward. On a narrow page a button opens both. */
export function ClockPanel() {
  const now = useNow()
  const [seconds, setSeconds] = useState('432000')
  const minute = jakartaMinuteOfDay(now)
  return (
    <Fold kind="clock" name={`Local clock, ${minute}`} summary={minute}>
      {() => (
        <section aria-label="Local clock">
          <WithNotices>
            <time class="now" dateTime={now} title={utcTime(now)}>
              {jakartaTime(now)}
            </time>
            <Select
              aria-label="How far the clock jumps"
              value={seconds}
              options={JUMPS}
              onChoose={setSeconds}
            />
            <ActionButton label="Jump" about="the clock forward" call={jumpBy(Number(seconds))} />
          </WithNotices>
        </section>
      )}
    </Fold>
  )
}

/** The gateway's time in UTC. Between two answers it advances like the gateway's clock. */
function useNow(): string {
  const { value: answer } = useRead(ClockSchema, CLOCK_CALL)
  const [aheadMs, setAhead] = useState(0)
  const [, render] = useState(0)
  useEffect(() => {
    if (answer) setAhead(Date.parse(answer.now) - Date.now())
  }, [answer])
  useEffect(() => {
    const timer = setInterval(() => render((times) => times + 1), 1_000)
    return () => clearInterval(timer)
  }, [])
  return new Date(Date.now() + aheadMs).toISOString()
}
