import type { Deps } from '../deps.ts'

/** Starts work that the answer does not wait for. Lambda may freeze it and continue it during the next request. */
export const aside: NonNullable<Deps['aside']> = (work) => {
  void work().catch(() => undefined)
}
