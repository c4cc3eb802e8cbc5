import { vi } from 'vitest'

export const printedBy = async (run: () => Promise<number>) => {
  const printed: string[] = []
  for (const stream of ['log', 'error'] as const) {
    vi.spyOn(console, stream).mockImplementation((text) => void printed.push(String(text)))
  }
  const code = await run()
  return { code, text: printed.join('\n') }
}
