import { availableParallelism, cpus, loadavg } from 'node:os'

export function measuredOn(command: string) {
  const date = new Date().toISOString().slice(0, 10)
  const cores = availableParallelism()
  const model = cpus()[0]?.model.trim() ?? process.arch
  const load = loadavg()[0]?.toFixed(1) ?? '?'
  return `\`${command}\`, ${date}, ${cores} virtual cores (${model}), Node ${process.versions.node}; load average ${load} when it ended.`
}
