const END = '<!-- end of what is written -->'

/**
 * Replaces the text after the comment of `npm run <script> -- [<suite>] --write`, up to the next
 * end comment. Throws if one of the two comments is missing.
 */
export function withWritten(document: string, script: string, text: string, suite?: string) {
  const begin = `<!-- written by \`npm run ${[script, '--', ...(suite === undefined ? [] : [suite]), '--write'].join(' ')}\` -->`
  const beginAt = document.indexOf(begin)
  const endAt = document.indexOf(END, beginAt)
  if (beginAt < 0 || endAt < beginAt)
    throw new Error(`the document needs this line, with an end line after it: ${begin}`)
  return `${document.slice(0, beginAt + begin.length)}\n\n${text}\n\n${document.slice(endAt)}`
}
