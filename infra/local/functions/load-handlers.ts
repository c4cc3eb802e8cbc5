import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import type { HostedHandler, LoadedHandler } from './function-host.ts'

const PROJECT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))

/** Throws with the name of an entry that is missing or exports no valid handler. */
export function loadHandlers(manifest: readonly FunctionSpec[]): Promise<readonly LoadedHandler[]> {
  return Promise.all(manifest.map(loadHandler))
}

async function loadHandler(spec: FunctionSpec): Promise<LoadedHandler> {
  const { handler } = await importEntry(spec)
  if (!isInjectable(handler)) throw new Error(`${spec.entry} must export a handler with withDeps`)
  return { spec, withDeps: handler.withDeps, described: { ...handler } }
}

async function importEntry({ name, entry }: FunctionSpec): Promise<{ readonly handler?: unknown }> {
  try {
    return await import(/* @vite-ignore */ pathToFileURL(join(PROJECT, entry)).href)
  } catch (error) {
    throw new Error(`cannot load ${entry}, the entry of function ${name}`, { cause: error })
  }
}

function isInjectable(handler: unknown): handler is Omit<HostedHandler, 'spec'> {
  return (
    typeof handler === 'function' && 'withDeps' in handler && typeof handler.withDeps === 'function'
  )
}

/** Each entry is imported at its first invocation, as in a cold start on AWS. */
export function handlersOnDemand(manifest: readonly FunctionSpec[]): readonly HostedHandler[] {
  return manifest.map((spec) => ({
    spec,
    withDeps: (deps) => {
      let loading: Promise<ReturnType<LoadedHandler['withDeps']>> | undefined
      return async (event, context) => {
        loading ??= loadHandler(spec).then(({ withDeps }) => withDeps(deps))
        return (await loading)(event, context)
      }
    },
  }))
}
