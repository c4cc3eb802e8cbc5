import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { LocalReply } from '../process/local-http-server.ts'

const PAGE = join(import.meta.dirname, 'page')

/** The page loads only from this server, runs no inline code, and cannot be framed. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The browser's code as one file. It is built at the first request, so that the start does not wait. */
const script = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(PAGE, 'main.tsx')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    write: false,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

const file = (name: string) => () => readFile(join(PAGE, name), 'utf8')

const FILES: Readonly<Record<string, { readonly type: string; readonly text: () => Promise<string> }>> = {
  '/console': { type: 'text/html', text: file('page.html') },
  '/console/page.css': { type: 'text/css', text: file('page.css') },
  '/console/icon.svg': { type: 'image/svg+xml', text: file('icon.svg') },
  '/console/page.js': { type: 'text/javascript', text: script },
}

/** Serves the page's files, each built once. Undefined for any other path. */
export const pageFiles = () => {
  const made = new Map<string, Promise<string>>()
  return async (path: string): Promise<LocalReply | undefined> => {
    const wanted = Object.hasOwn(FILES, path) ? FILES[path] : undefined
    if (!wanted) return undefined
    const text = made.get(path) ?? wanted.text()
    made.set(path, text)
    return { status: 200, headers: { ...HEADERS, 'content-type': `${wanted.type}; charset=utf-8` }, body: await text }
  }
}
