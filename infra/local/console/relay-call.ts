import * as v from 'valibot'
import { jsonReply, type LocalReply, type LocalRequest } from '../process/local-http-server.ts'
import { type About, ConsoleCallSchema, toWire } from './console-call.ts'

const TIMEOUT_MS = 30_000

/**
 * Makes a call for the page, which can reach only its own origin, and answers `{status, body}` unchanged. It calls only
 * the four servers of the gateway.
 */
export const relayCall = async (about: About, request: LocalRequest): Promise<LocalReply> => {
  // A form of another page cannot send this type, and the CORS preflight refuses that page's scripts.
  if (request.headers['content-type'] !== 'application/json')
    return jsonReply(415, { message: 'send application/json' })
  const call = v.safeParse(ConsoleCallSchema, parseJson(request.body.toString('utf8')))
  if (!call.success) return jsonReply(400, { message: v.flatten(call.issues) })
  const { url, ...init } = toWire(about, call.output)
  try {
    const answer = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const text = await answer.text()
    return jsonReply(200, { status: answer.status, body: parseJson(text) ?? text })
  } catch {
    return jsonReply(200, { status: 0, body: { message: 'no answer within 30 seconds' } })
  }
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
