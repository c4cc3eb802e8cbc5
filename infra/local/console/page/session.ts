import { useEffect, useState } from 'preact/hooks'
import * as v from 'valibot'
import { type About, AboutSchema } from '../console-call.ts'

const VIEWS = ['money', 'payments', 'webhooks', 'operate', 'provider'] as const
export type View = (typeof VIEWS)[number]

export type Route = { readonly view: View; readonly selectedId: string | undefined }

export const route = store<Route>(readRoute())
window.addEventListener('hashchange', () => route.set(readRoute()))

type Session = {
  readonly about: About
  readonly merchant: Pick<About['client'], 'client_id' | 'api_key'>
  /** Each start of the page clears all shown and typed text. */
  readonly number: number
}

const session = store<Session | undefined>(undefined)

/** `use` renders its part of the page again after each change. */
export function store<T>(initial: T) {
  let value = initial
  const listeners = new Set<() => void>()
  const follow = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    get: () => value,
    set: (next: T) => {
      value = next
      for (const listener of listeners) listener()
    },
    follow,
    use: () => {
      const [, render] = useState(0)
      useEffect(() => follow(() => render((times) => times + 1)), [])
      return value
    },
  }
}

export function goTo(view: View, id: string) {
  location.hash = `${view}/${id}`
}

export function about() {
  return currentSession().about
}

/** Throws if the page does not know its gateway yet. */
function currentSession() {
  const value = session.get()
  if (!value) throw new Error('the page is rendered before it knows the gateway')
  return value
}

export function merchant() {
  return currentSession().merchant
}

export function useSession() {
  return session.use() ?? currentSession()
}

export function actFor(newMerchant: Session['merchant']) {
  return startPage({ about: about(), merchant: newMerchant })
}

function startPage(parts: Pick<Session, 'about' | 'merchant'>) {
  const { number } = session.get() ?? { number: 0 }
  if (number > 0) leaveDetail()
  session.set({ ...parts, number: number + 1 })
}

function leaveDetail() {
  history.replaceState(null, '', `#${route.get().view}`)
  route.set(readRoute())
}

/** The route is in the page's address, so that links, history and bookmarks work. */
function readRoute(): Route {
  const [name = '', selectedId] = location.hash.slice(1).split('/')
  return { view: VIEWS.find((view) => view === name) ?? 'money', selectedId }
}

/**
 * A different gateway has other merchants and payments, so the page then starts again. Returns
 * whether it did.
 */
export async function readAbout() {
  const answer = await fetch('/console/about', { signal: AbortSignal.timeout(10_000) })
  const newAbout = v.parse(AboutSchema, await answer.json())
  const lastSession = session.get()
  if (lastSession && JSON.stringify(lastSession.about) === JSON.stringify(newAbout)) return false
  startPage({ about: newAbout, merchant: newAbout.client })
  return true
}
