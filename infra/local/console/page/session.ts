import * as v from 'valibot'
import { type About, AboutSchema } from '../console-call.ts'
import { leaveDetail } from './route.ts'
import { store } from './store.ts'

type Session = {
  /** The gateway that answers now. */
  readonly about: About
  /** For whom the page acts, with a key of this merchant. */
  readonly merchant: Pick<About['client'], 'client_id' | 'api_key'>
  /** Raised when the page begins anew: nothing that was shown or typed before is left. */
  readonly number: number
}

const session = store<Session | undefined>(undefined)

/** Throws before the page knows its gateway. */
const current = (): Session => {
  const known = session.get()
  if (!known) throw new Error('the page is rendered before it knows the gateway')
  return known
}
export const about = (): About => current().about
export const merchant = (): Session['merchant'] => current().merchant
export const useSession = (): Session => session.use() ?? current()

/** Begins the page anew. */
const begin = (known: Pick<Session, 'about' | 'merchant'>) => {
  const { number } = session.get() ?? { number: 0 }
  if (number > 0) leaveDetail()
  session.set({ ...known, number: number + 1 })
}

export const actFor = (chosen: Session['merchant']) => begin({ about: about(), merchant: chosen })

/**
 * Asks which gateway answers. Another one than before has other merchants and payments: the page begins anew. Answers
 * whether it did.
 */
export const readAbout = async (): Promise<boolean> => {
  const answer = await fetch('/console/about', { signal: AbortSignal.timeout(10_000) })
  const next = v.parse(AboutSchema, await answer.json())
  const known = session.get()
  if (known && JSON.stringify(known.about) === JSON.stringify(next)) return false
  begin({ about: next, merchant: next.client })
  return true
}
