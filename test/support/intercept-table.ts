import type { TestDeps } from './test-deps.ts'

/** One command on its way to the table. `input` is the SDK's, and may be changed before it is sent. */
export type TableCall = { readonly name: string; readonly input: Record<string, unknown> }

type Hooks = {
  /** Runs before the command is sent; throwing is a request that never arrived. */
  readonly before?: (call: TableCall) => void | Promise<void>
  /** Runs when the answer is there but nobody has it yet; throwing is an answer that was lost. */
  readonly after?: (call: TableCall) => void | Promise<void>
}

/**
 * The same table, with something happening between the code and it: another writer who comes first, a crash, a slow
 * answer. The deps given keep working without the hooks.
 */
export const interceptTable = (deps: TestDeps, { before, after }: Hooks): TestDeps => {
  const { client: real } = deps.table
  const send: unknown = Reflect.get(real, 'send')
  if (typeof send !== 'function') throw new Error('the table has no client')
  const intercepted = async (...args: readonly unknown[]) => {
    const command = Object(args[0])
    const call: TableCall = { name: command.constructor.name, input: command.input }
    await before?.(call)
    const answer: unknown = await Reflect.apply(send, real, args)
    await after?.(call)
    return answer
  }
  const client = new Proxy(real, {
    get: (target, property, receiver): unknown =>
      property === 'send' ? intercepted : Reflect.get(target, property, receiver),
  })
  return { ...deps, table: { ...deps.table, client } }
}

/** The same table, and a list of every command sent to it. */
export const recordTable = (deps: TestDeps): { readonly deps: TestDeps; readonly calls: TableCall[] } => {
  const calls: TableCall[] = []
  return { deps: interceptTable(deps, { before: (call) => void calls.push(call) }), calls }
}

/** Lets the other one do its part just before the first write of this kind. */
export const beforeFirst = (deps: TestDeps, kind: string, other: () => Promise<unknown>): TestDeps => {
  let done = false
  const before = async ({ name }: TableCall) => {
    if (done || name !== kind) return
    done = true
    await other()
  }
  return interceptTable(deps, { before })
}
