import type * as v from 'valibot'
import type { ConsoleCall } from '../console-call.ts'
import { type Loaded, load } from './gateway.ts'

/** A long read may exceed a merchant's limit of requests a second. */
const TRIES = 4
const PAUSE_MS = 1_000

type Paged<Schema extends v.GenericSchema> = {
  readonly schema: Schema
  readonly most: number
  /** The call for a page, numbered from 1. `last` is the page before it. */
  readonly callOf: (page: number, last: v.InferOutput<Schema> | undefined) => ConsoleCall
  readonly hasNext: (page: v.InferOutput<Schema>) => boolean
}

/** Reads page after page, up to a bound. An error is the last item. */
export async function* readPages<const Schema extends v.GenericSchema>({
  schema,
  most,
  callOf,
  hasNext,
}: Paged<Schema>): AsyncGenerator<Loaded<v.InferOutput<Schema>>, void> {
  let last: v.InferOutput<Schema> | undefined
  for (let page = 1; page <= most; page++) {
    const loaded = await loadPatiently(schema, callOf(page, last))
    yield loaded
    if (!('value' in loaded) || !hasNext(loaded.value)) return
    last = loaded.value
  }
}

export async function readAllPages<const Schema extends v.GenericSchema>(
  paged: Paged<Schema>,
): Promise<
  Loaded<{ readonly pages: readonly v.InferOutput<Schema>[]; readonly isWhole: boolean }>
> {
  const pages: v.InferOutput<Schema>[] = []
  for await (const loaded of readPages(paged)) {
    if (!('value' in loaded)) return loaded
    pages.push(loaded.value)
  }
  const last = pages.at(-1)
  return { value: { pages, isWhole: last === undefined || !paged.hasNext(last) } }
}

async function loadPatiently<const Schema extends v.GenericSchema>(
  schema: Schema,
  call: ConsoleCall,
) {
  let loaded = await load(schema, call)
  for (let tried = 1; tried < TRIES; tried++) {
    if ('value' in loaded || !loaded.isTemporary) break
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    loaded = await load(schema, call)
  }
  return loaded
}
