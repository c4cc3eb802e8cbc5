import { demoWalk } from './demo-walk.ts'
import { startLocalCloud } from './local-cloud.ts'
import { watchProcess } from './process-life.ts'

/** `npm run demo`: starts the gateway on free ports, walks one payment through its life, and leaves nothing behind. */
const life = watchProcess()

const run = async (): Promise<number> => {
  console.log('Starting the gateway on free ports, in memory…')
  const cloud = await startLocalCloud({ port: 0, signal: life.signal, onFailure: life.fail })
  try {
    await Promise.race([demoWalk(cloud, console.log), life.ended.then(() => Promise.reject(new Error('interrupted')))])
    console.log('\nDone: created once, credited once, announced once. `npm start` keeps a gateway running for you.')
    return 0
  } finally {
    await cloud.close()
  }
}

try {
  process.exit(await run())
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}
