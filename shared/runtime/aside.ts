import type { Deps } from '../deps.ts'

/** Beside the request, whose answer does not wait: Lambda may freeze it half-way and go on with it at the next one. */
export const aside: NonNullable<Deps['aside']> = (work) => {
  void work().catch(() => undefined)
}
