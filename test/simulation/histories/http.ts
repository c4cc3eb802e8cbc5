import { observeAnswer } from '../watching/observations.ts'
import { askedFor, refusalProblems } from '../watching/watch-refusals.ts'
import { type HttpRequest, type InvokeOptions, requestAs } from '../world/lambda.ts'
import type { Tenant } from '../world/tenants.ts'
import type { Play } from './operations.ts'

/** A merchant's request, of which nothing may be another one's. */
export const http = async (
  play: Play,
  tenant: Tenant,
  functionName: string,
  asked: HttpRequest = {},
  options: InvokeOptions = {},
) => {
  const now = askedFor(play.world, tenant, functionName, asked)
  play.seen.asked.push(now)
  const reply = await requestAs(play.world, tenant, functionName, asked, options)
  now.answered = reply !== undefined
  observeAnswer(play.seen, tenant, play.tenants, reply)
  play.seen.problems.push(...refusalProblems(play.world, tenant, play.seen.asked, now, reply))
  return reply
}
