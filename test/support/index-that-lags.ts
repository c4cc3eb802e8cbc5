import type { TestDeps } from './test-deps.ts'

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const aged = (answer: unknown, rows: Rows): unknown => {
  if (typeof answer !== 'object' || answer === null || !('Items' in answer) || !Array.isArray(answer.Items))
    return answer
  return { ...answer, Items: answer.Items.map((item: { id?: string }) => ({ ...item, ...rows[item.id ?? ''] })) }
}

/** The same table, whose `by-paid` index still shows some payments with attributes they no longer have. */
export const lateIndex = (deps: TestDeps, rows: Rows): TestDeps => {
  const { client: real } = deps.table
  const send: unknown = Reflect.get(real, 'send')
  if (typeof send !== 'function') throw new Error('the table has no client')
  const late = async (...args: readonly unknown[]): Promise<unknown> => {
    const answer: unknown = await Reflect.apply(send, real, args)
    return Object(args[0]).input?.IndexName === 'by-paid' ? aged(answer, rows) : answer
  }
  const client = new Proxy(real, {
    get: (target, property, receiver): unknown =>
      property === 'send' ? late : Reflect.get(target, property, receiver),
  })
  return { ...deps, table: { ...deps.table, client } }
}
