import { useEffect, useState } from 'preact/hooks'
import * as v from 'valibot'
import { type About, AboutSchema } from '../console-call.ts'

const VIEWS = ['payments', 'webhooks', 'money', 'provider'] as const
export type View = (typeof VIEWS)[number]

export type Route = { readonly view: View; readonly selected: string | undefined }

export const route = store<Route>(read())
window.addEventListener('hashchange', () => route.set(read()))

type Session = {
  /** The gateway that currently answers. */
  readonly about: About
  /** The chosen merchant, with one of its keys. */
  readonly merchant: Pick<About['client'], 'client_id' | 'api_key'>
  /** The number of starts of the page. Each start clears all shown and typed text. */
  readonly number: number
}

const session = store<Session | undefined>(undefined)

/** One value that several parts of the page share. `use` renders its part again after each change. */
export function store<T>(initial: T) {
  let value = initial
  const listeners = new Set<() => void>()
  const follow = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    get: (): T => value,
    set: (next: T): void => {
      value = next
      for (const listener of listeners) listener()
    },
    /** Calls the listener after each change. Returns a function that removes it. */
    follow,
    use: (): T => {
      const [, render] = useState(0)
      useEffect(() => follow(() => render((times) => times + 1)), [])
      return value
    },
  }
}

export function goTo(view: View, id: string) {
  location.hash = `${view}/${id}`
}

export function about(): About {
  return current().about
}

/** Throws if the page does not know its gateway yet. */
function current(): Session {
  const known = session.get()
  if (!known) throw new Error('the page is rendered before it knows the gateway')
  return known
}

export function merchant(): Session['merchant'] {
  return current().merchant
}

export function useSession(): Session {
  return session.use() ?? current()
}

export function actFor(chosen: Session['merchant']) {
  return begin({ about: about(), merchant: chosen })
}

/** Starts the page again. */
function begin(known: Pick<Session, 'about' | 'merchant'>) {
  const { number } = session.get() ?? { number: 0 }
  if (number > 0) leaveDetail()
  session.set({ ...known, number: number + 1 })
}

/** Shows the view's list instead of one item. */
function leaveDetail() {
  history.replaceState(null, '', `#${route.get().view}`)
  route.set(read())
}

/** The route is in the page's address, so that links, history and bookmarks work. */
function read(): Route {
  const [name = '', selected] = location.hash.slice(1).split('/')
  return { view: VIEWS.find((view) => view === name) ?? 'payments', selected }
}

/**
 * Asks which gateway answers. A different gateway has other merchants and payments, so the page then starts again.
 * Returns whether it did.
 */
export async function readAbout(): Promise<boolean> {
  const answer = await fetch('/console/about', { signal: AbortSignal.timeout(10_000) })
  const next = v.parse(AboutSchema, await answer.json())
  const known = session.get()
  if (known && JSON.stringify(known.about) === JSON.stringify(next)) return false
  begin({ about: next, merchant: next.client })
  return true
}
