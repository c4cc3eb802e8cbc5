import { escapeHtml, htmlPage } from '../process/html-page.ts'
import type { LocalReply } from '../process/local-http-server.ts'
import type { LocalPages } from '../triggers/start-http-gateway.ts'
import { type ConsoleParts, PRIVATE_PAGE } from './answer-console.ts'
import type { About } from './console-call.ts'

/**
 * `GET /` of the local API for browsers: where everything is, the demo merchant's key and a first
 * request. A caller that does not ask for HTML gets the API's 404, as on AWS.
 */
export function answerStartPage(ready: Promise<ConsoleParts>): LocalPages {
  return ({ method, path, headers }) =>
    method === 'GET' && path === '/' && headers.accept?.includes('text/html')
      ? ready.then(({ about }) => startPage(about))
      : undefined
}

/** No script runs, nothing is fetched, and no other page may show it, because it has a key. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  ...PRIVATE_PAGE,
}

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
  dt { font-weight: 600; margin-top: .75rem } dd { margin: 0 }
  pre { padding: .75rem; border: 1px solid; border-radius: .5rem; overflow-x: auto }
  code { overflow-wrap: anywhere }`

function startPage({ urls, client }: About): LocalReply {
  const request = [
    `curl ${urls.api}/v1/payments -H 'Authorization: Bearer ${client.api_key}' \\`,
    "  -H 'Content-Type: application/json' -H 'Idempotency-Key: first' \\",
    '  -d \'{"method":"qris","amount":150000,"currency":"IDR"}\'',
  ].join('\n')
  const places: readonly (readonly [name: string, url: string, what: string])[] = [
    ['Console', `${urls.api}/console`, 'create, pay and watch payments, and settle them'],
    ['API documents', `${urls.api}/docs`, 'every request and answer'],
    ['Webhook inbox', `${urls.inbox}/received`, 'the webhooks that the demo merchant has received'],
    ['Provider simulator', `${urls.provider}/_simulator`, 'every control and fault'],
    ['Alerts', `${urls.lambda}/_local/alerts`, 'what operators were told'],
  ]
  const list = places.map(
    ([name, url, what]) => `<dt><a href="${url}">${name}</a></dt><dd>${what}</dd>`,
  )
  const content = `<h1>Payment gateway</h1>
<p>The local gateway runs. API: <code>${urls.api}/v1</code></p>
<dl>${list.join('')}</dl>
<h2>The first request</h2>
<p>The key of the demo merchant: <code>${client.api_key}</code></p>
<pre><code>${escapeHtml(request)}</code></pre>`
  return { status: 200, headers: HEADERS, body: htmlPage('Payment gateway', content, STYLE) }
}
