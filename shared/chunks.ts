export function chunks<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  )
}

/** A long list must not open a connection for each input. */
export async function mapInChunks<Input, Output>(
  inputs: readonly Input[],
  size: number,
  map: (input: Input) => Promise<Output>,
): Promise<readonly Output[]> {
  const outputs: Output[] = []
  for (const chunk of chunks(inputs, size)) outputs.push(...(await Promise.all(chunk.map(map))))
  return outputs
}
