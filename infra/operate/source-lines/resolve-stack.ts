import type { SourceMap } from 'node:module'

/** Node writes a place in a bundled function as `index.mjs:12:3456`. */
const BUNDLED_PLACE = /[^\s()]*index\.mjs:(\d+):(\d+)/g

/** Names places in the source. A place that the map does not know stays. */
export function resolveStack(stack: string, map: SourceMap) {
  return stack.replaceAll(BUNDLED_PLACE, (place, line: string, column: string) => {
    const origin = map.findOrigin(Number(line), Number(column))
    if (!('fileName' in origin)) return place
    // Maps name sources relative to the bundle's directory.
    return `${origin.fileName.replace(/^(?:\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`
  })
}
