import type { SourceMap } from 'node:module'

/** A place in a bundled function, as Node writes it into a stack trace: `index.mjs:12:3456`. */
const BUNDLED_PLACE = /[^\s()]*index\.mjs:(\d+):(\d+)/g

/**
 * The stack trace with places in the source instead of the bundle. A place that the map does not
 * know stays.
 */
export function resolveStack(stack: string, map: SourceMap): string {
  return stack.replaceAll(BUNDLED_PLACE, (place, line: string, column: string) => {
    const origin = map.findOrigin(Number(line), Number(column))
    if (!('fileName' in origin)) return place
    // Maps name sources relative to the directory of the bundle.
    return `${origin.fileName.replace(/^(?:\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`
  })
}
