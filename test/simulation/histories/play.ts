import type { Scene } from '../scenes/http.ts'
import type { Tenant } from '../world/tenants.ts'

export type Play = Scene & {
  /** Creates without an answer, or with a 5xx: merchants retry them. */
  readonly unanswered: { readonly tenant: Tenant; readonly key: string; readonly body: string }[]
  /** By payment: the key and body of its create. */
  readonly created: Map<
    string,
    { readonly tenant: Tenant; readonly key: string; readonly body: string }
  >
  readonly restProblems: readonly (() => readonly string[])[]
  keys: number
}
