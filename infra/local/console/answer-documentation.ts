import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { htmlPage } from '../process/html-page.ts'
import {
  jsonReply,
  type LocalAnswer,
  type LocalReply,
  type LocalRequest,
} from '../process/local-http-server.ts'

const PROJECT = join(import.meta.dirname, '../../..')

/** The package would load it from another server. */
const LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg'

const PAGE = htmlPage(
  'Payment gateway API',
  '<redoc spec-url="/openapi.json"></redoc>\n<script src="/docs/redoc.standalone.js"></script>',
  'body { margin: 0 } td code { white-space: nowrap }',
)

/**
 * `/openapi.json` is docs/openapi.yaml as JSON, `/docs` a page that shows it, on this machine only.
 * Undefined for any other path.
 */
export function answerDocumentation(
  request: LocalRequest,
): LocalAnswer | Promise<LocalAnswer> | undefined {
  switch (`${request.method} ${request.path}`) {
    case 'GET /openapi.json':
      return description(request)
    case 'GET /docs':
      return textReply('text/html', PAGE)
    case 'GET /docs/redoc.standalone.js':
      return textReply(
        'text/javascript',
        readProjectFile('node_modules/redoc/bundles/redoc.standalone.js').replace(LOGO, 'data:,'),
      )
    default:
      return undefined
  }
}

/** The description as JSON, with this gateway as its server. */
async function description({ headers }: Pick<LocalRequest, 'headers'>) {
  // The import takes longer than the rest of the start.
  const { parseYaml } = await import('@redocly/openapi-core')
  const server = { url: `http://${headers.host ?? ''}`, description: 'This gateway' }
  return jsonReply(200, {
    ...Object(parseYaml(readProjectFile('docs/openapi.yaml'))),
    servers: [server],
  })
}

function readProjectFile(path: string) {
  return readFileSync(join(PROJECT, path), 'utf8')
}

/** Only this server's own scripts run, and no request leaves the machine, not even for a logo. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; " +
  "connect-src 'self'; worker-src blob:"

function textReply(type: string, body: string): LocalReply {
  return {
    status: 200,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'content-security-policy': POLICY,
      'cache-control': 'no-store',
    },
    body,
  }
}
