import type { Deps } from '../deps.ts'
import { reportBooks } from './compare-books.ts'
import { figure } from './figures.ts'
import { openSuspense } from './open-suspense.ts'

/**
 * What is open in suspense, once a day beside the books of all clients: held money is explained, what the provider says
 * and we do not is not. Whoever it belongs to, if anybody: so it is read once and not for each client.
 */
export const reportSuspense = async (deps: Pick<Deps, 'table' | 'log'>): Promise<void> => {
  const { figures } = await openSuspense(deps, undefined)
  reportBooks(deps, figures, figure(figures, 'provider_differs'))
}
