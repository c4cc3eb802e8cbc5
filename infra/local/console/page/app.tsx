import { type FunctionComponent, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ActionButton } from './action-button.tsx'
import { ActivityPane, followActivity } from './activity-pane.tsx'
import { Fold } from './fold.tsx'
import { jumpBy, useClock } from './gateway.ts'
import { jakartaMinuteOfDay, jakartaTime, utcTime } from './jakarta.ts'
import { MerchantPicker } from './merchant-picker.tsx'
import { MoneyView } from './money/money-view.tsx'
import { WithNotices } from './notice.tsx'
import { OperateView } from './operate/operate-view.tsx'
import { Select } from './parts.tsx'
import { PaymentsView } from './payments/payments-view.tsx'
import { ProviderView } from './provider/provider-view.tsx'
import { type Route, readAbout, route, useSession, type View } from './session.ts'
import { WebhooksView } from './webhooks/webhooks-view.tsx'

const TABS: Readonly<
  Record<View, readonly [label: string, part: FunctionComponent<Pick<Route, 'selectedId'>>]>
> = {
  money: ['Money', MoneyView],
  payments: ['Payments', PaymentsView],
  webhooks: ['Webhooks', WebhooksView],
  operate: ['Operate', OperateView],
  provider: ['Provider', ProviderView],
}

const root = document.querySelector('#console')
if (root) {
  await readAbout()
  followActivity()
  render(<App />, root)
}

function App() {
  const { merchant, number } = useSession()
  return (
    <>
      <a class="skip" href="#content" onClick={skipToContent}>
        Skip to content
      </a>
      <header class="top">
        <h1>
          <img src="/console/icon.svg" alt="" width="22" height="22" />
          <span>
            Payment gateway <small>local console</small>
          </span>
        </h1>
        <Tabs />
        <MerchantPicker />
        <ClockPanel />
      </header>
      <div class="columns">
        <main id="content" tabIndex={-1}>
          <CurrentView key={number} />
        </main>
        <ActivityPane />
      </div>
      <footer>
        Merchant {merchant.client_id} · a deployed gateway has no console, and no request leaves
        this machine
      </footer>
    </>
  )
}

/** The page's address is the route, so this link must move only the focus. */
function skipToContent(event: Event) {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')?.focus()
}

function Tabs() {
  const { view } = route.use()
  const [current] = TABS[view]
  return (
    <Fold kind="views" name={`Views, now ${current}`} summary={current}>
      {() => (
        <nav aria-label="Views">
          {Object.entries(TABS).map(([name, [label]]) => (
            <a key={name} href={`#${name}`} aria-current={name === view ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
      )}
    </Fold>
  )
}

function CurrentView() {
  const { view, selectedId } = route.use()
  const [, Part] = TABS[view]
  return <Part selectedId={selectedId} />
}

const JUMPS = [
  ['60', '1 minute'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['432000', '5 days'],
  ['2592000', '30 days'],
] as const

/** On a narrow page a button opens clock and jumps. */
function ClockPanel() {
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

/** Between two answers it advances like the gateway's clock. */
function useNow() {
  const answer = useClock()
  const [aheadMs, setAhead] = useState(0)
  const [, setSeconds] = useState(0)
  useEffect(() => {
    if (answer) setAhead(Date.parse(answer.now) - Date.now())
  }, [answer])
  useEffect(() => {
    const timer = setInterval(() => setSeconds((seconds) => seconds + 1), 1_000)
    return () => clearInterval(timer)
  }, [])
  return new Date(Date.now() + aheadMs).toISOString()
}
