import type { IncomingHttpHeaders } from 'node:http'

const LOOPBACK_NAMES = '(?:127\\.0\\.0\\.1|localhost|\\[::1\\])'
const HOST = new RegExp(`^${LOOPBACK_NAMES}(?::\\d{1,5})?$`, 'i')
const ORIGIN = new RegExp(`^http://${LOOPBACK_NAMES}(?::(\\d{1,5}))?$`, 'i')
const HTTP_PORT = 80

/**
 * Whether a foreign web page caused the request: a browser here sends it if the page's host name
 * resolves to this machine, which is then the `Host`, or across origins, with the page's `Origin`
 * or `null`. Programs send no `Origin`. Our own pages come from one of `ports`.
 */
export function isForeignRequest(
  headers: Pick<IncomingHttpHeaders, 'host' | 'origin'>,
  ports: ReadonlySet<number>,
) {
  if (!HOST.test(headers.host ?? '')) return true
  if (headers.origin === undefined) return false
  const origin = ORIGIN.exec(headers.origin)
  return origin === null || !ports.has(Number(origin[1] ?? HTTP_PORT))
}
