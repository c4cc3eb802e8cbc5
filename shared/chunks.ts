export function chunks<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  )
}

/** Maps `size` inputs at a time, so that a long list does not open a connection for each. */
export async function mapInChunks<Input, Output>(
  inputs: readonly Input[],
  size: number,
  map: (input: Input) => Promise<Output>,
): Promise<readonly Output[]> {
  const outputs: Output[] = []
  for (const some of chunks(inputs, size)) outputs.push(...(await Promise.all(some.map(map))))
  return outputs
}
