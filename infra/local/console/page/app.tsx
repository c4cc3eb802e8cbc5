import { useEffect } from 'preact/hooks'
import { ClockPanel } from './clock-panel.tsx'
import { notice } from './gateway.ts'
import { MoneyView } from './money/money-view.tsx'
import { PaymentsView } from './payments/payments-view.tsx'
import { ProviderView } from './provider-view.tsx'
import { route, type View } from './route.ts'
import { about, useSessionNumber } from './session.ts'
import { StoryPane } from './story-pane.tsx'
import { WebhooksView } from './webhooks/webhooks-view.tsx'

const TABS: readonly (readonly [View, string])[] = [
  ['payments', 'Payments'],
  ['webhooks', 'Webhooks'],
  ['money', 'Money'],
  ['provider', 'Provider'],
]

const Shown = () => {
  const { view, id } = route.use()
  switch (view) {
    case 'payments':
      return <PaymentsView selected={id} />
    case 'webhooks':
      return <WebhooksView />
    case 'money':
      return <MoneyView />
    case 'provider':
      return <ProviderView />
  }
}

const Tabs = () => {
  const { view } = route.use()
  return (
    <nav aria-label="Views">
      {TABS.map(([name, label]) => (
        <a key={name} href={`#${name}`} aria-current={name === view ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}

const SHOWN_MS = 6_000

/** What went well goes by itself; what went wrong stays until the next action. */
const Notice = () => {
  const last = notice.use()
  useEffect(() => {
    if (!last?.ok) return undefined
    const timer = setTimeout(() => notice.set(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [last])
  return (
    <p role="status" class={`notice ${last ? (last.ok ? 'good' : 'bad') : 'none'}`}>
      {last?.text}
    </p>
  )
}

/** The console: a view on the left, and on the right what happens, while it happens. */
export const App = () => {
  const session = useSessionNumber()
  return (
    <>
      <a class="skip" href="#content" onClick={skipToContent}>
        Skip to content
      </a>
      <header class="top">
        <h1>
          Payment gateway <small>local console</small>
        </h1>
        <Tabs />
        <ClockPanel />
      </header>
      <div class="columns">
        <main id="content" tabIndex={-1}>
          <Shown key={session} />
        </main>
        <StoryPane />
      </div>
      <Notice />
      <footer>
        Merchant {about().client.client_id} · nothing here is part of a deployed gateway, and no request leaves this
        machine
      </footer>
    </>
  )
}

/** The address says which view is shown, so a link into the page moves the focus alone. */
const skipToContent = (event: Event) => {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')?.focus()
}
