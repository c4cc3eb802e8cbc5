import type { Deps } from '../deps.ts'

/** The books of a client, or of all (design section 12). */
export const getBooks = async (_deps: Pick<Deps, 'table'>, _input: unknown): Promise<object> => {
  throw new Error('the books are not written yet')
}
