import * as v from 'valibot'
import { type About, AboutSchema } from '../console-call.ts'
import { leaveDetail } from './route.ts'
import { store } from './store.ts'

type Session = {
  /** The gateway that answers now. */
  readonly about: About
  /** Raised when the page begins anew: nothing that was shown or typed before is left. */
  readonly number: number
}

const session = store<Session | undefined>(undefined)

/** Throws before the page knows its gateway. */
export const about = (): About => {
  const known = session.get()
  if (!known) throw new Error('the page is rendered before it knows the gateway')
  return known.about
}

export const useSessionNumber = (): number => session.use()?.number ?? 0

const begin = (next: About) => session.set({ about: next, number: (session.get()?.number ?? 0) + 1 })

/**
 * Asks which gateway answers. Another one than before has other merchants and payments: the page begins anew. Answers
 * whether it did.
 */
export const readAbout = async (): Promise<boolean> => {
  const answer = await fetch('/console/about', { signal: AbortSignal.timeout(10_000) })
  const next = v.parse(AboutSchema, await answer.json())
  const known = session.get()
  if (known && JSON.stringify(known.about) === JSON.stringify(next)) return false
  if (known) leaveDetail()
  begin(next)
  return true
}
