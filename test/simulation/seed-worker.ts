import { runSeed, type SeedTask } from './run-seeds.ts'

process.on('message', (task: SeedTask) => {
  // The scheduler's ticks come after all microtasks only if they begin in one.
  void Promise.resolve(task)
    .then((sent) => runSeed(sent))
    .then((result) => process.send?.(result))
})
