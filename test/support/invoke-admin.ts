import type { Context } from 'aws-lambda'
import type { Deps } from '../../shared/deps.ts'
import type { AdminHandler, AdminReply } from '../../shared/runtime/admin-handler.ts'

const context = (functionName: string): Context => ({
  awsRequestId: crypto.randomUUID(),
  functionName,
  functionVersion: '1',
  invokedFunctionArn: `arn:aws:lambda:ap-southeast-3:000000000000:function:${functionName}`,
  memoryLimitInMB: '512',
  logGroupName: '',
  logStreamName: '',
  callbackWaitsForEmptyEventLoop: false,
  getRemainingTimeInMillis: () => 60_000,
  done: () => {},
  fail: () => {},
  succeed: () => {},
})

/** Invokes an operator action as Lambda does. */
export const invokeAdmin = (handler: AdminHandler, deps: Deps, payload: unknown): Promise<AdminReply> =>
  handler.withDeps(deps)(payload, context('action'))
