import { store } from './store.ts'

const VIEWS = ['payments', 'webhooks', 'money', 'provider'] as const
export type View = (typeof VIEWS)[number]

export type Route = { readonly view: View; readonly id: string | undefined }

/** The route is in the page's address, so that links, history and bookmarks work. */
const read = (): Route => {
  const [name = '', id] = location.hash.slice(1).split('/')
  return { view: VIEWS.find((view) => view === name) ?? 'payments', id }
}

export const route = store<Route>(read())
window.addEventListener('hashchange', () => route.set(read()))

export const goTo = (view: View, id: string) => {
  location.hash = `${view}/${id}`
}

/** Shows the view's list instead of one item. */
export const leaveDetail = () => {
  history.replaceState(null, '', `#${route.get().view}`)
  route.set(read())
}
