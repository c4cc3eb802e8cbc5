const END = '<!-- end of what is written -->'

/**
 * A document with what `npm run <script> -- [<suite>] --write` puts there in its place, up to the next end. Throws when
 * it has no place for it.
 */
export const withWritten = (document: string, script: string, text: string, suite?: string): string => {
  const begin = `<!-- written by \`npm run ${[script, '--', ...(suite === undefined ? [] : [suite]), '--write'].join(' ')}\` -->`
  const from = document.indexOf(begin)
  const to = document.indexOf(END, from)
  if (from < 0 || to < from) throw new Error(`the document has no place for what ${script} writes`)
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`
}
