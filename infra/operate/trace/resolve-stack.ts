import { SourceMap, type SourceMapPayload } from 'node:module'

/** A place in a bundled function, as Node writes it into a stack trace: `index.mjs:12:3456`. */
const BUNDLED_PLACE = /[^\s()]*index\.mjs:(\d+):(\d+)/g

/** The stack trace with places in the source instead of the bundle. A place that the map does not know stays. */
export const resolveStack = (stack: string, payload: SourceMapPayload): string => {
  const map = new SourceMap(payload)
  return stack.replaceAll(BUNDLED_PLACE, (place, line: string, column: string) => {
    const origin = map.findOrigin(Number(line), Number(column))
    return 'fileName' in origin
      ? `${fromProjectRoot(origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`
      : place
  })
}

/** Maps name sources relative to the directory of the bundle. */
const fromProjectRoot = (source: string): string => source.replace(/^(?:\.\.\/)+/, '')
