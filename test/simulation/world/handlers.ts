import { join } from 'node:path'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { grantedDeps } from '../../../infra/local/functions/granted-deps.ts'
import type { Deps } from '../../../shared/deps.ts'
import { type SimDeps, simDeps } from './sim-deps.ts'

type Handler = (event: unknown, context: unknown) => Promise<unknown>
export type HandlerModule = { readonly handler: { readonly withDeps: (deps: Deps) => Handler } }

/** What a release makes of the world for its functions, and how much of it one of them is granted. */
export type Means = { readonly simDeps: SimDeps; readonly grantedDeps: typeof grantedDeps }

export type LoadedFunction = Means & {
  readonly spec: FunctionSpec
  readonly build: (deps: Deps) => Handler
  /** Of the release before. */
  readonly isFormer?: true
}

/** Every function of the manifest, loaded once: the real handlers, not copies of them. */
export const loadFunctions = async (): Promise<ReadonlyMap<string, LoadedFunction>> => {
  const loaded = await Promise.all(
    MANIFEST.map(async (spec) => {
      const module = (await import(join(import.meta.dirname, '../../..', spec.entry))) as HandlerModule
      return [spec.name, { spec, simDeps, grantedDeps, build: (deps: Deps) => module.handler.withDeps(deps) }] as const
    }),
  )
  return new Map(loaded)
}
