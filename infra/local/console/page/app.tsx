import { type FunctionComponent, render } from 'preact'
import { ActivityPane, followActivity } from './activity-pane.tsx'
import { ClockPanel } from './clock-panel.tsx'
import { Fold } from './fold.tsx'
import { MerchantPicker } from './merchant-picker.tsx'
import { MoneyView } from './money/money-view.tsx'
import { OperateView } from './operate/operate-view.tsx'
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

/** The console: a view on the left, and the live activity feed on the right. */
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
