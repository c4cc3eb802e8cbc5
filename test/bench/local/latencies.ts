import { availableParallelism, cpus, loadavg } from 'node:os'
import { performance } from 'node:perf_hooks'

export type Latencies = { readonly ms: number[]; elapsedMs: number }

export const noLatencies = (): Latencies => ({ ms: [], elapsedMs: 0 })

/** The least value that this part of all is not above (`0.99`: one in a hundred takes longer). */
export const percentile = (values: readonly number[], part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}

export const perSecond = ({ ms, elapsedMs }: Latencies): number => (ms.length / elapsedMs) * 1_000

/** Callers side by side, each asking again as soon as it is answered, while `goOn` says yes. Adds what each ask took. */
export const measureLoop = async (
  into: Latencies,
  concurrency: number,
  goOn: () => boolean,
  ask: () => Promise<unknown>,
): Promise<void> => {
  const from = performance.now()
  const caller = async () => {
    while (goOn()) {
      const askedAt = performance.now()
      await ask()
      into.ms.push(performance.now() - askedAt)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, caller))
  into.elapsedMs += performance.now() - from
}

export const during = (ms: number): (() => boolean) => {
  const until = performance.now() + ms
  return () => performance.now() < until
}

/** A sentence for a document: date and machine of figures that depend on the machine. */
export const measuredOn = (command: string): string => {
  const date = new Date().toISOString().slice(0, 10)
  const cores = availableParallelism()
  const model = cpus()[0]?.model.trim() ?? process.arch
  const load = loadavg()[0]?.toFixed(1) ?? '?'
  return `\`${command}\`, ${date}, ${cores} virtual cores (${model}), Node ${process.versions.node}; load average ${load} when it ended.`
}
