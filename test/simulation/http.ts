import { type HttpRequest, type InvokeOptions, requestAs } from './lambda.ts'
import { observeAnswer } from './observations.ts'
import type { Play } from './operations.ts'
import type { Tenant } from './tenants.ts'
import { askedFor, refusalProblems } from './watch-refusals.ts'

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
  observeAnswer(play.seen, tenant, play.tenants, reply)
  play.seen.problems.push(...refusalProblems(play.world, tenant, play.seen.asked, now, reply))
  return reply
}
