/** One process of `npm run sim -- --seeds A..B`: it runs each seed that it is sent, and sends the result back. */
import { loadRun, runSeed, type SeedTask } from './run-seed.ts'

const run = loadRun()

process.on('message', async (task) => {
  process.send?.(await runSeed(await run, task as SeedTask))
})
