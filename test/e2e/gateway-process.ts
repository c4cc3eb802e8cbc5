import { onTestFinished } from 'vitest'
import { type GatewayStart, startGatewayProcess } from '../support/start-gateway-process.ts'

/** `npm start` as a process of its own, gone when the test is over, also when the test fails before it came to its end. */
export const spawnGateway = (start?: GatewayStart) => {
  const gateway = startGatewayProcess(start)
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  return gateway
}
