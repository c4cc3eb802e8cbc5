/** One process of `npm run sim -- --seeds A..B`: it runs each seed that it is sent, and sends the result back. */
import { loadRun, runSeed, type SeedTask } from './run-seeds.ts'

const run = loadRun()

const answer = async (task: SeedTask): Promise<void> => {
  process.send?.(await runSeed(await run, task))
}

process.on('message', (task) => void answer(task as SeedTask))
