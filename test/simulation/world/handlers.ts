import { join } from 'node:path'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { Deps } from '../../../shared/deps.ts'

type Handler = (event: unknown, context: unknown) => Promise<unknown>
type HandlerModule = { readonly handler: { readonly withDeps: (deps: Deps) => Handler } }

export type LoadedFunction = {
  readonly spec: FunctionSpec
  readonly build: (deps: Deps) => Handler
}

/** Every function of the manifest, loaded once: the real handlers, not copies of them. */
export const loadFunctions = async (): Promise<ReadonlyMap<string, LoadedFunction>> => {
  const loaded = await Promise.all(
    MANIFEST.map(async (spec) => {
      const module = (await import(join(import.meta.dirname, '../../..', spec.entry))) as HandlerModule
      return [spec.name, { spec, build: (deps: Deps) => module.handler.withDeps(deps) }] as const
    }),
  )
  return new Map(loaded)
}
