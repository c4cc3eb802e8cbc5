const END = '<!-- end of what is written -->'

/**
 * The document with a new text after the comment of `npm run <script> -- [<suite>] --write`, up to the next end
 * comment. Throws if one of the two comments is missing.
 */
export function withWritten(
  document: string,
  script: string,
  text: string,
  suite?: string,
): string {
  const begin = `<!-- written by \`npm run ${[script, '--', ...(suite === undefined ? [] : [suite]), '--write'].join(' ')}\` -->`
  const from = document.indexOf(begin)
  const to = document.indexOf(END, from)
  if (from < 0 || to < from)
    throw new Error(`the document needs this line, with an end line after it: ${begin}`)
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`
}
